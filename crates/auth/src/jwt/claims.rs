//! Reads the claims of a token that another party has signed.
//!
//! The signature is not verified. The tokens read here come directly from a token endpoint, whose TLS
//! connection authenticates it, as OpenID Connect Core 3.1.3.7 (6) allows; the server that receives the token
//! verifies the signature. Tokens from any other source must not be read with this module.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::limits::TOKEN_BYTES;
use mcparley_model::secret::Secret;
use serde_json::{Map, Value};

/// The claims of a token. A claim of the wrong type counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The token type: `typ` of its header.
    pub kind: Option<String>,
    /// The issuer: `iss`.
    pub issuer: Option<String>,
    /// The subject: `sub`.
    pub subject: Option<String>,
    /// The audiences: `aud`.
    pub audiences: Vec<String>,
    /// The expiry: `exp`.
    pub expires: Option<SystemTime>,
    /// The time of issue: `iat`.
    pub issued: Option<SystemTime>,
    /// The nonce of the request it answers: `nonce`.
    pub nonce: Option<Secret<String>>,
    /// The client that requested it, where it has several audiences: `azp`.
    pub party: Option<String>,
    /// The resources it is for: `resource`.
    pub resources: Vec<String>,
    /// The client it was issued to: `client_id`.
    pub client: Option<String>,
}

/// The reason why a token cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwtError {
    /// The token exceeds the size limit.
    #[error("the token is longer than {TOKEN_BYTES} bytes")]
    TooLong,
    /// The token is not a signed JSON Web Token.
    #[error("the token is not a signed JSON Web Token")]
    Shape,
}

/// Parses the claims of `token` without verifying its signature; see above for the tokens for which that is
/// enough.
///
/// # Errors
/// A [`JwtError`], which contains no part of the token.
pub fn parse_claims(token: &Secret<String>) -> Result<Claims, JwtError> {
    let token = token.expose();
    if token.len() > TOKEN_BYTES {
        return Err(JwtError::TooLong);
    }
    let mut parts = token.split('.');
    let (Some(header), Some(claims), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(JwtError::Shape);
    };
    if signature.is_empty() {
        return Err(JwtError::Shape);
    }
    let (header, claims) = (decode_object(header)?, decode_object(claims)?);
    let text = |name| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(Claims {
        kind: header.get("typ").and_then(Value::as_str).map(str::to_owned),
        issuer: text("iss"),
        subject: text("sub"),
        audiences: string_or_list(claims.get("aud")),
        expires: claims.get("exp").and_then(parse_date),
        issued: claims.get("iat").and_then(parse_date),
        nonce: text("nonce").map(Secret::new),
        party: text("azp"),
        resources: string_or_list(claims.get("resource")),
        client: text("client_id"),
    })
}

fn decode_object(part: &str) -> Result<Map<String, Value>, JwtError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| JwtError::Shape)?;
    serde_json::from_slice(&bytes).map_err(|_| JwtError::Shape)
}

fn string_or_list(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(one)) => vec![one.clone()],
        // All or none: a list with dropped items would claim less than the token does.
        Some(Value::Array(many)) => {
            many.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>().unwrap_or_default()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

/// Parses a date: seconds since 1970, possibly with a fraction (RFC 7519, 2).
fn parse_date(value: &Value) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
    UNIX_EPOCH.checked_add(since)
}
