//! Proofs that we hold the key a token was given for (DPoP, RFC 9449).
//!
//! One [`Prover`] belongs to one sign-in and is stored with its tokens, because they are worth nothing without it.
//! Whether a sign-in uses one is decided in [`wish`].

mod wish;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use mcparley_model::limits::{DPOP_NONCE_BYTES, DPOP_NONCES};
use mcparley_model::secret::Secret;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

pub use wish::{Possession, Wish, wish};

use crate::jwt::{self, SignError};

/// A key, and the nonces that servers want in its proofs.
pub struct Prover {
    pair: EcdsaKeyPair,
    nonces: Mutex<Vec<Nonce>>,
}

/// To whom a proof is shown. Their nonces are kept apart even where both are at one origin (RFC 9449, 8 and 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The authorization server, for a token.
    Issuer,
    /// The protected server, with a token.
    Resource,
}

/// What a proof is made for.
#[derive(Clone, Copy, Debug)]
pub struct Proving<'p> {
    /// The method of the request.
    pub method: &'p str,
    /// Where it goes.
    pub url: &'p Url,
    /// The token it carries; none when it asks for one.
    pub token: Option<&'p Secret<String>>,
}

struct Nonce {
    party: Party,
    origin: String,
    value: String,
}

/// Why stored bytes are not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored key cannot be read")]
pub struct ProverError;

impl Prover {
    /// A new key.
    ///
    /// # Errors
    /// [`SignError::Random`] when there is no randomness to be had.
    pub fn generate() -> Result<Self, SignError> {
        EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map(Self::new).map_err(|_| SignError::Random)
    }

    /// The key that [`Prover::to_pkcs8`] gave.
    ///
    /// # Errors
    /// A [`ProverError`].
    pub fn from_pkcs8(bytes: &Secret<Vec<u8>>) -> Result<Self, ProverError> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes.expose());
        pair.map(Self::new).map_err(|_| ProverError)
    }

    /// The key, to be stored with the tokens it belongs to.
    ///
    /// # Errors
    /// [`SignError::Key`] when it cannot be written down.
    pub fn to_pkcs8(&self) -> Result<Secret<Vec<u8>>, SignError> {
        let document = self.pair.to_pkcs8v1().map_err(|_| SignError::Key)?;
        Ok(Secret::new(document.as_ref().to_vec()))
    }

    /// The name tokens know the key by (RFC 7638), for `dpop_jkt`.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let (x, y) = self.point();
        thumbprint(&x, &y)
    }

    /// A proof for one request. It holds good for this request alone.
    ///
    /// # Errors
    /// A [`SignError`].
    pub fn proof(&self, request: &Proving<'_>, now: SystemTime) -> Result<Secret<String>, SignError> {
        let (x, y) = self.point();
        let header = json!({
            "typ": "dpop+jwt",
            "alg": "ES256",
            "jwk": {"kty": "EC", "crv": "P-256", "x": x, "y": y},
        });
        jwt::signed(&header, &self.claims(request, now)?, |message| {
            let signature = self.pair.sign(&SystemRandom::new(), message).map_err(|_| SignError::Key)?;
            Ok(signature.as_ref().to_vec())
        })
    }

    /// Keeps what the proofs shown to this server are to carry from now on; whether it can be used.
    pub fn remember(&self, party: Party, url: &Url, nonce: &str) -> bool {
        let is_nonce = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        if nonce.is_empty() || nonce.len() > DPOP_NONCE_BYTES || !nonce.bytes().all(is_nonce) {
            return false;
        }
        let origin = url.origin().ascii_serialization();
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        nonces.retain(|known| known.party != party || known.origin != origin);
        if nonces.len() == DPOP_NONCES {
            nonces.remove(0);
        }
        nonces.push(Nonce { party, origin, value: nonce.to_owned() });
        true
    }

    fn new(pair: EcdsaKeyPair) -> Self {
        Self { pair, nonces: Mutex::new(Vec::new()) }
    }

    fn claims(&self, request: &Proving<'_>, now: SystemTime) -> Result<Value, SignError> {
        let Proving { method, url, token } = request;
        let mut claims = json!({
            "jti": jwt::unique()?,
            "htm": method,
            "htu": target(url),
            "iat": jwt::seconds(now),
        });
        if let Some(token) = token {
            claims["ath"] = hash(token.expose()).into();
        }
        let party = if token.is_some() { Party::Resource } else { Party::Issuer };
        if let Some(nonce) = self.nonce(party, url) {
            claims["nonce"] = nonce.into();
        }
        Ok(claims)
    }

    fn nonce(&self, party: Party, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        let nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = nonces.iter().find(|nonce| nonce.party == party && nonce.origin == origin);
        known.map(|nonce| nonce.value.clone())
    }

    /// The public key as its two coordinates; the bytes are `04 ‖ x ‖ y`.
    fn point(&self) -> (String, String) {
        let bytes = self.pair.public_key().as_ref();
        let (x, y) = bytes.get(1..).unwrap_or_default().split_at_checked(32).unwrap_or_default();
        (jwt::encoded(x), jwt::encoded(y))
    }
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prover").field(&self.thumbprint()).finish()
    }
}

/// The address without what differs from request to request.
fn target(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

fn hash(text: &str) -> String {
    jwt::encoded(Sha256::digest(text.as_bytes()))
}

/// The members in this order and without spaces, or it is another thumbprint (RFC 7638, 3).
fn thumbprint(x: &str, y: &str) -> String {
    hash(&format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#))
}
