//! JSON Web Tokens as far as a client needs them: what it signs itself, and the claims of what it is given.
//!
//! Our own few lines over `aws-lc-rs`: a client never has to choose whom to believe by what stands in a header, and
//! that choice is where libraries for these tokens have been broken. Keys live in `key`, what is read in
//! `claims`; nothing here verifies a signature.

mod claims;
mod key;

#[cfg(test)]
mod tests;

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::secret::Secret;
use serde_json::Value;

pub use claims::{Claims, JwtError, claims_of};
pub use key::{Algorithm, KeyError, SigningKey};

/// Why nothing was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// There is no randomness to be had.
    #[error("the system gives no random numbers")]
    Random,
    /// The key did not sign.
    #[error("the key does not sign")]
    Key,
}

/// A signed token in its compact form (RFC 7515, 7.1).
pub(crate) fn signed(
    header: &Value,
    claims: &Value,
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, SignError>,
) -> Result<Secret<String>, SignError> {
    let mut token = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let signature = sign(token.as_bytes())?;
    token.push('.');
    token.push_str(&encoded(signature));
    Ok(Secret::new(token))
}

/// A name no other token has: 128 random bits.
pub(crate) fn unique() -> Result<String, SignError> {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).map_err(|_| SignError::Random)?;
    Ok(encoded(bytes))
}

/// Bytes as these tokens write them.
pub(crate) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A time as these tokens write it. A clock that stands before 1970 is taken for one that stands there.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
