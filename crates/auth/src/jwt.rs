//! JSON Web Tokens as far as a client needs them: signing its own, and reading the claims of others.
//!
//! A few lines over `aws-lc-rs` instead of a library: a client never has to choose an algorithm or key by a
//! token's header, which is where JWT libraries had vulnerabilities. Keys are in `key`, claims in `claims`;
//! no code here verifies a signature.

mod claims;
mod key;

#[cfg(test)]
mod tests;

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_model::secret::Secret;
use serde_json::Value;

pub use claims::{Claims, JwtError, parse_claims};
pub use key::{Algorithm, KeyError, SigningKey};

/// The reason why signing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The system returned no random numbers.
    #[error("the system returned no random numbers")]
    Random,
    /// The key could not sign.
    #[error("the key cannot sign")]
    Key,
}

/// Signs a token and returns its compact form (RFC 7515, 7.1).
pub(crate) fn sign_token(
    header: &Value,
    claims: &Value,
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, SignError>,
) -> Result<Secret<String>, SignError> {
    let mut token =
        format!("{}.{}", encode_base64url(header.to_string()), encode_base64url(claims.to_string()));
    let signature = sign(token.as_bytes())?;
    token.push('.');
    token.push_str(&encode_base64url(signature));
    Ok(Secret::new(token))
}

/// A unique token id: 128 random bits.
pub(crate) fn random_id() -> Result<String, SignError> {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).map_err(|_| SignError::Random)?;
    Ok(encode_base64url(bytes))
}

/// Encodes bytes as base64url without padding.
pub(crate) fn encode_base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
