//! Checks the claims of a token (RFC 7519, section 4.1; RFC 9068, section 4).
//!
//! Pure: the time is an argument.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcparley_model::limits::CLOCK_SKEW;
use serde_json::{Map, Value};

use crate::access_refusal::AccessRefusal;

/// The claims of a token with the right issuer, subject and times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedClaims {
    pub(crate) subject: String,
    pub(crate) expires: SystemTime,
    /// The resources that the token is for.
    pub(crate) audiences: Vec<String>,
}

/// Checks all claims that do not depend on the endpoint. A claim of a wrong type is refused like a wrong value.
pub(crate) fn check_claims(
    claims: &Map<String, Value>,
    issuer: &str,
    now: SystemTime,
) -> Result<CheckedClaims, AccessRefusal> {
    if claims.get("iss").and_then(Value::as_str) != Some(issuer) {
        return Err(AccessRefusal::Issuer);
    }
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty());
    let subject = subject.ok_or(AccessRefusal::Subject)?.to_owned();
    if claims.contains_key("cnf") {
        return Err(AccessRefusal::Bound);
    }
    let expires = claims.get("exp").and_then(parse_date).ok_or(AccessRefusal::NoExpiry)?;
    if is_over(expires, now) {
        return Err(AccessRefusal::Expired);
    }
    for claim in ["nbf", "iat"] {
        let Some(date) = claims.get(claim) else { continue };
        let date = parse_date(date).ok_or(AccessRefusal::NotYetValid)?;
        if date > now + CLOCK_SKEW {
            return Err(AccessRefusal::NotYetValid);
        }
    }
    Ok(CheckedClaims { subject, expires, audiences: text_values(claims.get("aud")).collect() })
}

/// Whether a token with this expiry is no longer accepted.
pub(crate) fn is_over(expires: SystemTime, now: SystemTime) -> bool {
    expires.checked_add(CLOCK_SKEW).is_none_or(|end| end <= now)
}

/// The text values of a claim: one, or those of a list.
pub(crate) fn text_values(value: Option<&Value>) -> impl Iterator<Item = String> {
    let list: &[Value] = match value {
        Some(Value::Array(list)) => list,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    list.iter().filter_map(Value::as_str).map(str::to_owned)
}

/// Parses a date: seconds since 1970, possibly with a fraction (RFC 7519, section 2).
fn parse_date(value: &Value) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
    UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests;
