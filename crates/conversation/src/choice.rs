//! The choice of a model: provider, model name, address and key.
//!
//! Pure: the variables of the environment are looked up by a function of the caller, which decides whose
//! variables count. Those of a project folder must not, because they could send the user's key elsewhere.

use std::fmt;

use mcparley_model::explain::Explain;
use mcparley_model::secret::Secret;
use mcparley_model::text::display_line;
use url::Url;

use crate::provider::Provider;

/// The variable that names the model.
const CHOICE_VARIABLE: &str = "MCPARLEY_MODEL";

/// A model with its address and its key. Prints as `provider:model`.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelChoice {
    provider: Provider,
    model: String,
    base_url: Url,
    credential: Credential,
}

/// The key of a model's API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    /// The service needs no key, as local ones do.
    None,
    Key(Secret<String>),
    Bearer(Secret<String>),
}

/// The reason why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelChoiceError {
    /// The provider of the requested model has no key.
    #[error("there is no key for {}", provider.title())]
    NoKey {
        /// The provider.
        provider: Provider,
    },
    /// The name does not say which provider has the model.
    #[error("no provider is configured for the model `{}`", display_line(model))]
    NoProvider {
        /// The model.
        model: String,
    },
    /// The name is empty.
    #[error("the name of the model is empty")]
    Empty,
    /// The address of an API is not usable.
    #[error("`{variable}` is not the address of an API: {reason}")]
    BaseUrl {
        /// The variable.
        variable: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A key has characters that no header can have.
    #[error("`{variable}` holds characters that a key cannot have")]
    Key {
        /// The variable.
        variable: &'static str,
    },
}

impl Explain for ModelChoiceError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoKey { provider } => format!("set `{}`", provider.variables().keys.join("` or `")),
            Self::NoProvider { .. } => "write the provider before it: `openai:MODEL`".to_owned(),
            Self::Empty => "write `provider:model`, such as `anthropic:claude-sonnet-5-5`".to_owned(),
            Self::BaseUrl { variable, .. } => {
                format!("set `{variable}` to an address such as `https://host/path`")
            }
            Self::Key { variable } => format!("set `{variable}` again, without line breaks"),
        })
    }
}

/// The hint for a user who has configured no model.
pub const NO_MODEL_HINT: &str = "set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`; for a local model set \
                                 `OPENAI_BASE_URL` (such as `http://localhost:11434/v1`) and `OPENAI_MODEL`";

impl ModelChoice {
    /// The model that the environment names: `MCPARLEY_MODEL`, or the first provider with a key; `None` if
    /// no model is configured.
    ///
    /// # Errors
    /// A [`ModelChoiceError`] when the configuration is incomplete or invalid.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, ModelChoiceError> {
        match lookup(&variable, CHOICE_VARIABLE) {
            Some(text) => Self::select(&text, variable).map(Some),
            None => match configured_provider(&variable) {
                Some(provider) => Self::with_model(provider, None, &variable).map(Some),
                None => Ok(None),
            },
        }
    }

    /// The model that the user names: `provider:model`, a provider, or a model of a provider that is
    /// configured.
    ///
    /// # Errors
    /// A [`ModelChoiceError`] when the provider is unknown or has no key.
    pub fn select(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ModelChoiceError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ModelChoiceError::Empty);
        }
        if let Ok(provider) = text.parse() {
            return Self::with_model(provider, None, &variable);
        }
        // Model names may contain colons too, such as `llama3:8b`.
        let split = text.split_once(':').and_then(|(provider, model)| Some((provider.parse().ok()?, model)));
        if let Some((provider, model)) = split {
            let model = Some(model.trim()).filter(|model| !model.is_empty());
            return Self::with_model(provider, Some(model.ok_or(ModelChoiceError::Empty)?), &variable);
        }
        let guess = Provider::guess_from_model(text).filter(|guess| is_configured(*guess, &variable));
        match guess.or_else(|| configured_provider(&variable)) {
            Some(provider) => Self::with_model(provider, Some(text), &variable),
            None => Err(ModelChoiceError::NoProvider { model: text.to_owned() }),
        }
    }

    fn with_model(
        provider: Provider,
        model: Option<&str>,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelChoiceError> {
        let variables = provider.variables();
        let credential = find_credential(provider, variable)?;
        let given = lookup(variable, variables.base_url);
        if credential == Credential::None && given.is_none() {
            return Err(ModelChoiceError::NoKey { provider });
        }
        let base_url = given.unwrap_or_else(|| provider.default_base_url().to_owned());
        let base_url = parse_base_url(&base_url, variables.base_url)?;
        let named = model.map(str::to_owned).or_else(|| lookup(variable, variables.model));
        let model = named.unwrap_or_else(|| provider.default_model().to_owned());
        Ok(Self { provider, model, base_url, credential })
    }

    /// The provider.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The name of the model.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The address of the API.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        &self.base_url
    }

    pub(crate) fn credential(&self) -> &Credential {
        &self.credential
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, display_line(&self.model))
    }
}

impl fmt::Debug for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelChoice({self} at {})", self.base_url)
    }
}

/// The value of a variable, trimmed; one that is empty counts as unset.
fn lookup(variable: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// The first provider with a key; failing that, the first with an address.
fn configured_provider(variable: &impl Fn(&str) -> Option<String>) -> Option<Provider> {
    let has_key = |provider: &Provider| {
        let variables = provider.variables();
        variables.keys.iter().copied().chain(variables.token).any(|name| lookup(variable, name).is_some())
    };
    let mut all = Provider::ALL.into_iter();
    all.find(has_key)
        .or_else(|| Provider::ALL.into_iter().find(|provider| is_configured(*provider, variable)))
}

fn is_configured(provider: Provider, variable: &impl Fn(&str) -> Option<String>) -> bool {
    let variables = provider.variables();
    let names = variables.keys.iter().copied().chain(variables.token).chain([variables.base_url]);
    names.into_iter().any(|name| lookup(variable, name).is_some())
}

fn find_credential(
    provider: Provider,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Credential, ModelChoiceError> {
    let variables = provider.variables();
    if let Some(name) = variables.token
        && let Some(token) = lookup(variable, name)
    {
        return Ok(Credential::Bearer(check_key(token, name)?));
    }
    for name in variables.keys.iter().copied() {
        if let Some(key) = lookup(variable, name) {
            return Ok(Credential::Key(check_key(key, name)?));
        }
    }
    Ok(Credential::None)
}

fn check_key(key: String, variable: &'static str) -> Result<Secret<String>, ModelChoiceError> {
    match key.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(Secret::new(key)),
        false => Err(ModelChoiceError::Key { variable }),
    }
}

fn parse_base_url(text: &str, variable: &'static str) -> Result<Url, ModelChoiceError> {
    let invalid = |reason| ModelChoiceError::BaseUrl { variable, reason };
    let url = Url::parse(text).map_err(|_| invalid("it is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it does not begin with `http://` or `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("it contains a password, which belongs into the variable of the key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("it has a query or a fragment"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests;
