//! JSON web tokens by shape only: without signing or verification.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The lifetime of a valid token, in seconds.
pub(crate) const LIFE: i64 = 300;

/// The claims of a token with three parts.
pub(crate) fn claims(token: &str) -> Option<Value> {
    decode_part(token, 1)
}

/// The header of a token with three parts.
pub(crate) fn header(token: &str) -> Option<Value> {
    decode_part(token, 0)
}

fn decode_part(token: &str, index: usize) -> Option<Value> {
    let parts: Vec<&str> = token.split('.').collect();
    let [_, _, _] = parts.as_slice() else { return None };
    let bytes = BASE64.decode(parts.get(index)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A token of that type with a fixed fake signature.
pub(crate) fn unsigned_token(kind: &str, claims: &Value) -> String {
    let header = json!({ "alg": "ES256", "typ": kind, "kid": "canary-key" });
    let encode = |value: &Value| BASE64.encode(value.to_string());
    format!("{}.{}.{}", encode(&header), encode(claims), BASE64.encode("canary-signature"))
}

/// The current time in seconds since 1970.
pub(crate) fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
