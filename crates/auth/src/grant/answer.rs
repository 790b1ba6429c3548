//! Reads what an authorization server gave: leniently where servers differ, strictly where a token goes into a header.

use std::time::{Duration, SystemTime};

use mcparley_model::limits::{OAUTH_NAMES, TOKEN_BYTES, TOKEN_LIFE};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};

use super::{Grant, Granted, TokenRequest};
use crate::scopes::split;
use crate::tokens::{Kind, Tokens};
use crate::web::Page;

/// Why what was given cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It is not a JSON object.
    #[error("the answer is not a JSON object")]
    NotAnObject,
    /// Something that must be there is not.
    #[error("the answer has no `{field}`")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A token that cannot stand in a header, or that no server would take there.
    #[error("`access_token` is longer than {TOKEN_BYTES} bytes, or has characters that tokens do not have")]
    BadToken,
    /// A token that is carried in a way we do not know.
    #[error("tokens of type `{}` are unknown", .kind.display())]
    UnknownKind {
        /// The type.
        kind: Untrusted,
    },
}

/// The answer as an object.
pub(crate) fn object(page: &Page) -> Result<Map<String, Value>, AnswerError> {
    serde_json::from_slice(&page.body).map_err(|_| AnswerError::NotAnObject)
}

/// A text of the answer that says something.
pub(crate) fn text<'a>(answer: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty() && text.len() <= TOKEN_BYTES)
}

pub(super) fn granted(
    answer: &Map<String, Value>,
    request: &TokenRequest<'_>,
    now: SystemTime,
) -> Result<Granted, AnswerError> {
    let secret = |name| text(answer, name).map(|text| Secret::new(text.to_owned()));
    let tokens = Tokens {
        access: access(answer)?,
        kind: kind(answer)?,
        refresh: secret("refresh_token").or_else(|| kept(request.grant)),
        given: now,
        expires: expires(answer.get("expires_in"), now),
        scopes: scopes_in(answer).unwrap_or_else(|| request.scopes.to_vec()),
    };
    Ok(Granted { tokens, id_token: secret("id_token"), proof: request.client.proof })
}

/// A token goes into a header as it is: nothing but printable characters, so that it cannot end the line.
pub(crate) fn access(answer: &Map<String, Value>) -> Result<Secret<String>, AnswerError> {
    let token = answer.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let token = token.ok_or(AnswerError::Missing { field: "access_token" })?;
    if token.len() > TOKEN_BYTES || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(AnswerError::BadToken);
    }
    Ok(Secret::new(token.to_owned()))
}

/// A server that does not say how its tokens are carried has only ever one way; RFC 6749 wants it to say so.
fn kind(answer: &Map<String, Value>) -> Result<Kind, AnswerError> {
    let name = match answer.get("token_type") {
        None | Some(Value::Null) => return Ok(Kind::Bearer),
        Some(name) => name.as_str().unwrap_or_default(),
    };
    let known = [Kind::Bearer, Kind::Dpop].into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(name));
    known.ok_or_else(|| AnswerError::UnknownKind {
        kind: Untrusted::new(name.chars().take(40).collect::<String>()),
    })
}

/// A refresh token that is not replaced stays good (RFC 6749, 6).
fn kept(grant: Grant<'_>) -> Option<Secret<String>> {
    match grant {
        Grant::Refresh { token } => Some(token.clone()),
        Grant::Code { .. } | Grant::ClientCredentials | Grant::Device { .. } | Grant::JwtBearer { .. } => {
            None
        }
    }
}

/// When the token ends, if that can be known.
///
/// A life of nothing or less counts as unknown: the token is used until the server refuses it, which costs one request.
/// Believing it would mean a new token before every request, each as dead as the last.
fn expires(life: Option<&Value>, now: SystemTime) -> Option<SystemTime> {
    let seconds = match life? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    if seconds.is_nan() || seconds < 1.0 {
        return None;
    }
    now.checked_add(
        Duration::try_from_secs_f64(seconds.floor()).map_or(TOKEN_LIFE, |life| life.min(TOKEN_LIFE)),
    )
}

/// What the answer says it is good for: one text with spaces, as it should be, or a list.
pub(crate) fn scopes_in(answer: &Map<String, Value>) -> Option<Vec<String>> {
    match answer.get("scope")? {
        Value::String(text) => Some(split(text).take(OAUTH_NAMES).collect()),
        Value::Array(list) => {
            Some(list.iter().filter_map(Value::as_str).flat_map(split).take(OAUTH_NAMES).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}
