//! What stands in a token that somebody else has signed.
//!
//! The signature is not looked at. The tokens read here come straight from a token endpoint, and there the TLS
//! connection says who speaks, as OpenID Connect Core 3.1.3.7 (6) allows; whoever must believe the signature is the
//! server they are shown to. Nothing that came another way may be read with this.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::limits::TOKEN_BYTES;
use mcparley_model::secret::Secret;
use serde_json::{Map, Value};

/// What a token says. A claim of the wrong type counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// What kind of token it is: `typ` of its header.
    pub kind: Option<String>,
    /// Who signed it: `iss`.
    pub issuer: Option<String>,
    /// Whom it is about: `sub`.
    pub subject: Option<String>,
    /// Whom it is for: `aud`.
    pub audiences: Vec<String>,
    /// When it ends: `exp`.
    pub expires: Option<SystemTime>,
    /// When it was signed: `iat`.
    pub issued: Option<SystemTime>,
    /// What ties it to the request it answers: `nonce`.
    pub nonce: Option<Secret<String>>,
    /// Who asked for it, where it is for several: `azp`.
    pub party: Option<String>,
    /// The resources it opens: `resource`.
    pub resources: Vec<String>,
    /// The client it was given to: `client_id`.
    pub client: Option<String>,
}

/// Why a token cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// It is longer than any that could be used.
    #[error("the token is longer than {TOKEN_BYTES} bytes")]
    TooLong,
    /// It is not a signed JSON Web Token.
    #[error("the token is not a signed JSON Web Token")]
    Shape,
}

/// What `token` says, whoever signed it; see above for which tokens that is enough.
///
/// # Errors
/// A [`JwtError`], which says nothing of the token.
pub fn claims_of(token: &Secret<String>) -> Result<Claims, JwtError> {
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
    let (header, claims) = (object(header)?, object(claims)?);
    let text = |name| claims.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(Claims {
        kind: header.get("typ").and_then(Value::as_str).map(str::to_owned),
        issuer: text("iss"),
        subject: text("sub"),
        audiences: one_or_many(claims.get("aud")),
        expires: claims.get("exp").and_then(date),
        issued: claims.get("iat").and_then(date),
        nonce: text("nonce").map(Secret::new),
        party: text("azp"),
        resources: one_or_many(claims.get("resource")),
        client: text("client_id"),
    })
}

fn object(part: &str) -> Result<Map<String, Value>, JwtError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| JwtError::Shape)?;
    serde_json::from_slice(&bytes).map_err(|_| JwtError::Shape)
}

fn one_or_many(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(one)) => vec![one.clone()],
        // All or none: a list of which a part was dropped would say less than the token does.
        Some(Value::Array(many)) => {
            many.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>().unwrap_or_default()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

/// Dates are seconds since 1970, also with a fraction (RFC 7519, 2).
fn date(value: &Value) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
    UNIX_EPOCH.checked_add(since)
}
