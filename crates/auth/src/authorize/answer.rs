//! What a browser brings back, read once.

use mcparley_model::limits::CALLBACK_HEAD_BYTES;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use url::{Url, form_urlencoded};

use super::Refusal;

/// An answer to some attempt: a yes with a code, or a no. Whether it is believed is decided by the attempt.
#[derive(Clone, Debug)]
pub struct Answer {
    state: Option<Secret<String>>,
    issuer: Option<Untrusted>,
    outcome: Result<Secret<String>, Refusal>,
}

/// Why a text is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It is larger than any.
    #[error("it is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A parameter stands in it more than once, and nobody knows which counts (RFC 6749, 4.1.2).
    #[error("`{name}` stands in it more than once")]
    Twice {
        /// The parameter.
        name: &'static str,
    },
    /// It says yes and no.
    #[error("it has both a code and an error")]
    Both,
    /// It says neither.
    #[error("it has neither a code nor an error")]
    Neither,
    /// It is an address, but not the one the browser was to be sent back to.
    #[error("it does not begin with `{expected}`")]
    Elsewhere {
        /// Where the browser was to be sent back to.
        expected: String,
    },
}

impl AnswerError {
    /// What a person who pasted it can do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Neither | Self::Elsewhere { .. } => Some(
                "paste the whole address that the browser shows after the sign-in, also when the page cannot be opened"
                    .to_owned(),
            ),
            Self::TooLong { .. } | Self::Twice { .. } | Self::Both => None,
        }
    }
}

impl Answer {
    /// Reads what stands behind the `?` of the address a browser was sent to.
    ///
    /// # Errors
    /// When it is no answer.
    pub fn from_query(query: &str) -> Result<Self, AnswerError> {
        if query.len() > CALLBACK_HEAD_BYTES {
            return Err(AnswerError::TooLong { limit: CALLBACK_HEAD_BYTES });
        }
        let mut fields = Fields::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            fields.take(&name, &value)?;
        }
        fields.answer()
    }

    /// Reads what a person has copied out of a browser elsewhere: the address, with or without what stands before its
    /// `?`, and whatever quotes, brackets and line breaks copying has added.
    ///
    /// # Errors
    /// When it is no answer, or an address other than `redirect`.
    pub fn from_pasted(text: &str, redirect: &Url) -> Result<Self, AnswerError> {
        if text.len() > CALLBACK_HEAD_BYTES {
            return Err(AnswerError::TooLong { limit: CALLBACK_HEAD_BYTES });
        }
        let around = |character: char| character.is_whitespace() || "\"'`<>".contains(character);
        // Terminals break long lines, and mail programs too.
        let text: String =
            text.trim_matches(around).chars().filter(|c| !matches!(c, '\r' | '\n' | '\t')).collect();
        match text.split_once('?') {
            None if text.contains("://") => Err(elsewhere(redirect)),
            None => Self::from_query(without_fragment(&text)),
            Some(("", query)) => Self::from_query(without_fragment(query)),
            Some(_) => Self::from_query(address(&text, redirect)?.query().unwrap_or_default()),
        }
    }

    pub(super) fn state(&self) -> Option<&Secret<String>> {
        self.state.as_ref()
    }

    pub(super) fn issuer(&self) -> Option<&Untrusted> {
        self.issuer.as_ref()
    }

    pub(super) fn outcome(&self) -> Result<&Secret<String>, Refusal> {
        self.outcome.as_ref().map_err(Clone::clone)
    }
}

/// The pasted text as an address; it must be the one we wait at.
fn address(text: &str, redirect: &Url) -> Result<Url, AnswerError> {
    // Some browsers leave the scheme out of what they show.
    let address = match text.contains("://") {
        true => Url::parse(text),
        false => Url::parse(&format!("{}://{text}", redirect.scheme())),
    };
    let is_ours = |address: &Url| {
        let has_user = !address.username().is_empty() || address.password().is_some();
        address.origin() == redirect.origin() && address.path() == redirect.path() && !has_user
    };
    address.ok().filter(is_ours).ok_or_else(|| elsewhere(redirect))
}

fn elsewhere(redirect: &Url) -> AnswerError {
    AnswerError::Elsewhere { expected: redirect.to_string() }
}

/// Some servers put something behind their parameters that only a browser would understand.
fn without_fragment(query: &str) -> &str {
    query.split_once('#').map_or(query, |(query, _)| query)
}

/// The parameters, each at most once.
#[derive(Default)]
struct Fields {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl Fields {
    fn take(&mut self, name: &str, value: &str) -> Result<(), AnswerError> {
        let (name, field) = match name {
            "code" => ("code", &mut self.code),
            "state" => ("state", &mut self.state),
            "iss" => ("iss", &mut self.iss),
            "error" => ("error", &mut self.error),
            "error_description" => ("error_description", &mut self.description),
            // What is not known is ignored (RFC 6749, 4.1.2).
            _ => return Ok(()),
        };
        match field.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(AnswerError::Twice { name }),
        }
    }

    fn answer(self) -> Result<Answer, AnswerError> {
        let Self { code, state, iss, error, description } = self;
        let said = |field: Option<String>| field.filter(|text| !text.is_empty());
        let outcome = match (said(code), said(error)) {
            (Some(code), None) => Ok(Secret::new(code)),
            (None, Some(error)) => Err(Refusal::new(&error, said(description).as_deref())),
            (Some(_), Some(_)) => return Err(AnswerError::Both),
            (None, None) => return Err(AnswerError::Neither),
        };
        Ok(Answer { state: state.map(Secret::new), issuer: iss.map(Untrusted::new), outcome })
    }
}
