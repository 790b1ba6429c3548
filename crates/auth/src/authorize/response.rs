//! Parses the authorization response that a browser brings back.

use mcparley_model::limits::CALLBACK_HEAD_BYTES;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use url::{Url, form_urlencoded};

use super::AuthorizationRefusal;

/// The authorization response: a code or a refusal. The
/// [`AuthorizationAttempt`](super::AuthorizationAttempt) decides whether it is accepted.
#[derive(Clone, Debug)]
pub struct AuthorizationResponse {
    state: Option<Secret<String>>,
    issuer: Option<Untrusted>,
    outcome: Result<Secret<String>, AuthorizationRefusal>,
}

/// The reason why a text is no authorization response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationResponseError {
    /// The address exceeds the size limit.
    #[error("it is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A parameter occurs more than once, so that its value is ambiguous (RFC 6749, 4.1.2).
    #[error("the address has `{name}` more than once")]
    Duplicate {
        /// The parameter.
        name: &'static str,
    },
    /// The address has both a code and an error.
    #[error("the address has both a code and an error")]
    Both,
    /// The address has neither a code nor an error.
    #[error("the address has neither a code nor an error")]
    Neither,
    /// The address is an address other than the redirect address.
    #[error("the address does not begin with `{expected}`")]
    WrongRedirect {
        /// The redirect address.
        expected: String,
    },
}

impl AuthorizationResponseError {
    /// The hint for a user who pasted the text.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Neither | Self::WrongRedirect { .. } => Some(
                "paste the whole address the browser shows after the sign-in, even if the page did not open"
                    .to_owned(),
            ),
            Self::TooLong { .. } | Self::Duplicate { .. } | Self::Both => None,
        }
    }
}

impl AuthorizationResponse {
    /// Parses the query of the redirect address.
    ///
    /// # Errors
    /// When it is no authorization response.
    pub fn from_query(query: &str) -> Result<Self, AuthorizationResponseError> {
        if query.len() > CALLBACK_HEAD_BYTES {
            return Err(AuthorizationResponseError::TooLong { limit: CALLBACK_HEAD_BYTES });
        }
        let mut fields = AuthorizationFields::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            fields.set_field(&name, &value)?;
        }
        fields.into_response()
    }

    /// Parses an address that the user copied from a browser, with or without the part before its `?`, and
    /// with quotes, brackets and line breaks that copying added.
    ///
    /// # Errors
    /// When it is no authorization response, or an address other than `redirect`.
    pub fn from_pasted(text: &str, redirect: &Url) -> Result<Self, AuthorizationResponseError> {
        if text.len() > CALLBACK_HEAD_BYTES {
            return Err(AuthorizationResponseError::TooLong { limit: CALLBACK_HEAD_BYTES });
        }
        let around = |character: char| character.is_whitespace() || "\"'`<>".contains(character);
        // Terminals and mail programs break long lines.
        let text: String =
            text.trim_matches(around).chars().filter(|c| !matches!(c, '\r' | '\n' | '\t')).collect();
        match text.split_once('?') {
            None if text.contains("://") => Err(wrong_redirect_error(redirect)),
            None => Self::from_query(without_fragment(&text)),
            Some(("", query)) => Self::from_query(without_fragment(query)),
            Some(_) => Self::from_query(parse_redirect_url(&text, redirect)?.query().unwrap_or_default()),
        }
    }

    pub(crate) fn state(&self) -> Option<&Secret<String>> {
        self.state.as_ref()
    }

    pub(super) fn issuer(&self) -> Option<&Untrusted> {
        self.issuer.as_ref()
    }

    pub(super) fn outcome(&self) -> Result<&Secret<String>, AuthorizationRefusal> {
        self.outcome.as_ref().map_err(Clone::clone)
    }
}

/// Parses the pasted text as an address; it must be the redirect address.
fn parse_redirect_url(text: &str, redirect: &Url) -> Result<Url, AuthorizationResponseError> {
    // Some browsers hide the scheme.
    let address = if text.contains("://") {
        Url::parse(text)
    } else {
        Url::parse(&format!("{}://{text}", redirect.scheme()))
    };
    let is_ours = |address: &Url| {
        let has_user = !address.username().is_empty() || address.password().is_some();
        address.origin() == redirect.origin() && address.path() == redirect.path() && !has_user
    };
    address.ok().filter(is_ours).ok_or_else(|| wrong_redirect_error(redirect))
}

fn wrong_redirect_error(redirect: &Url) -> AuthorizationResponseError {
    AuthorizationResponseError::WrongRedirect { expected: redirect.to_string() }
}

/// Removes the fragment, which some servers append for scripts in the browser.
fn without_fragment(query: &str) -> &str {
    query.split_once('#').map_or(query, |(query, _)| query)
}

/// The parameters of the response, each at most once.
#[derive(Default)]
struct AuthorizationFields {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl AuthorizationFields {
    fn set_field(&mut self, name: &str, value: &str) -> Result<(), AuthorizationResponseError> {
        let (name, field) = match name {
            "code" => ("code", &mut self.code),
            "state" => ("state", &mut self.state),
            "iss" => ("iss", &mut self.iss),
            "error" => ("error", &mut self.error),
            "error_description" => ("error_description", &mut self.description),
            // Unknown parameters are ignored (RFC 6749, 4.1.2).
            _ => return Ok(()),
        };
        match field.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(AuthorizationResponseError::Duplicate { name }),
        }
    }

    fn into_response(self) -> Result<AuthorizationResponse, AuthorizationResponseError> {
        let Self { code, state, iss, error, description } = self;
        let said = |field: Option<String>| field.filter(|text| !text.is_empty());
        let outcome = match (said(code), said(error)) {
            (Some(code), None) => Ok(Secret::new(code)),
            (None, Some(error)) => Err(AuthorizationRefusal::new(&error, said(description).as_deref())),
            (Some(_), Some(_)) => return Err(AuthorizationResponseError::Both),
            (None, None) => return Err(AuthorizationResponseError::Neither),
        };
        Ok(AuthorizationResponse { state: state.map(Secret::new), issuer: iss.map(Untrusted::new), outcome })
    }
}
