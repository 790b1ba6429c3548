//! Parses token responses: leniently where servers differ, strictly where a token goes into a header.

use std::time::{Duration, SystemTime};

use mcparley_model::limits::{OAUTH_NAMES, TOKEN_BYTES, TOKEN_LIFE};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};

use super::{TokenGrant, TokenRequest, TokenResponse};
use crate::scopes::split_scopes;
use crate::tokens::{Kind, Tokens};
use crate::web::WebResponse;

/// The reason why a token response cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenResponseError {
    /// The response is not a JSON object.
    #[error("the response is not a JSON object")]
    NotAnObject,
    /// A required field is missing.
    #[error("the response has no `{field}`")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// The access token cannot be sent in a header.
    #[error("`access_token` is longer than {TOKEN_BYTES} bytes, or has invalid characters")]
    BadToken,
    /// The token type is unknown.
    #[error("unknown token type `{}`", .kind.display_line())]
    UnknownKind {
        /// The type.
        kind: Untrusted,
    },
}

/// Parses the response as an object.
pub(crate) fn parse_object(page: &WebResponse) -> Result<Map<String, Value>, TokenResponseError> {
    serde_json::from_slice(&page.body).map_err(|_| TokenResponseError::NotAnObject)
}

/// A text field of the response that is neither empty nor too long.
pub(crate) fn text_field<'a>(answer: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty() && text.len() <= TOKEN_BYTES)
}

pub(super) fn parse_token_response(
    answer: &Map<String, Value>,
    request: &TokenRequest<'_>,
    now: SystemTime,
) -> Result<TokenResponse, TokenResponseError> {
    let secret = |name| text_field(answer, name).map(|text| Secret::new(text.to_owned()));
    let tokens = Tokens {
        access: parse_access_token(answer)?,
        kind: parse_token_type(answer)?,
        refresh: secret("refresh_token").or_else(|| previous_refresh_token(request.grant)),
        given: now,
        expires: parse_expiry(answer.get("expires_in"), now),
        scopes: parse_scopes(answer).unwrap_or_else(|| request.scopes.to_vec()),
    };
    Ok(TokenResponse { tokens, id_token: secret("id_token"), proof: request.client.proof })
}

/// Parses the access token. It goes into a header as it is, so only printable characters are allowed: a line
/// break would start another header.
pub(crate) fn parse_access_token(answer: &Map<String, Value>) -> Result<Secret<String>, TokenResponseError> {
    let token = answer.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let token = token.ok_or(TokenResponseError::Missing { field: "access_token" })?;
    if token.len() > TOKEN_BYTES || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(TokenResponseError::BadToken);
    }
    Ok(Secret::new(token.to_owned()))
}

/// Parses the token type. A server that omits it, against RFC 6749, uses bearer tokens.
fn parse_token_type(answer: &Map<String, Value>) -> Result<Kind, TokenResponseError> {
    let name = match answer.get("token_type") {
        None | Some(Value::Null) => return Ok(Kind::Bearer),
        Some(name) => name.as_str().unwrap_or_default(),
    };
    let known = [Kind::Bearer, Kind::Dpop].into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(name));
    known.ok_or_else(|| TokenResponseError::UnknownKind {
        kind: Untrusted::new(name.chars().take(40).collect::<String>()),
    })
}

/// The refresh token of the request: one that is not replaced stays valid (RFC 6749, 6).
fn previous_refresh_token(grant: TokenGrant<'_>) -> Option<Secret<String>> {
    match grant {
        TokenGrant::Refresh { token } => Some(token.clone()),
        TokenGrant::Code { .. }
        | TokenGrant::ClientCredentials
        | TokenGrant::Device { .. }
        | TokenGrant::Exchange { .. }
        | TokenGrant::JwtBearer { .. } => None,
    }
}

/// The expiry of the token, if it is known.
///
/// A lifetime below one second counts as unknown: the token is used until the server refuses it, which costs
/// one request. Otherwise each request would fetch a new token that has already expired.
fn parse_expiry(life: Option<&Value>, now: SystemTime) -> Option<SystemTime> {
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

/// The scopes in the response: one text with spaces, as specified, or a list.
pub(crate) fn parse_scopes(answer: &Map<String, Value>) -> Option<Vec<String>> {
    match answer.get("scope")? {
        Value::String(text) => Some(split_scopes(text).take(OAUTH_NAMES).collect()),
        Value::Array(list) => {
            Some(list.iter().filter_map(Value::as_str).flat_map(split_scopes).take(OAUTH_NAMES).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}
