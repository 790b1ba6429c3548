//! Proofs of possession (DPoP, RFC 9449): each request proves that we hold the key its token is bound to.
//!
//! One [`Prover`] belongs to one sign-in and is stored with its tokens, which are useless without it.
//! [`choose_token_binding`] decides whether a sign-in uses one.

mod token_binding;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use mcparley_model::limits::{DPOP_NONCE_BYTES, DPOP_NONCES};
use mcparley_model::secret::Secret;
use mcparley_model::time::unix_seconds;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

pub use token_binding::{Possession, TokenBinding, choose_token_binding};

use crate::jwt::{self, SignError};

/// A DPoP key, and the nonces that servers want in its proofs.
pub struct Prover {
    pair: EcdsaKeyPair,
    nonces: Mutex<Vec<ServerNonce>>,
}

/// The receiver of a proof. Nonces are kept apart by receiver even at the same origin (RFC 9449, 8 and 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofReceiver {
    /// The authorization server, for a token request.
    Issuer,
    /// The protected server, for a request with a token.
    Resource,
}

/// The request a proof is made for.
#[derive(Clone, Copy, Debug)]
pub struct ProofRequest<'p> {
    /// The method of the request.
    pub method: &'p str,
    /// The address of the request.
    pub url: &'p Url,
    /// The access token it carries; `None` for a token request.
    pub token: Option<&'p Secret<String>>,
}

struct ServerNonce {
    party: ProofReceiver,
    origin: String,
    value: String,
}

/// The error for stored bytes that are not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored key cannot be read")]
pub struct ProverError;

impl Prover {
    /// Generates a new key.
    ///
    /// # Errors
    /// [`SignError::Random`] when the system returns no random numbers.
    pub fn generate() -> Result<Self, SignError> {
        EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map(Self::new).map_err(|_| SignError::Random)
    }

    /// Restores a key from the bytes of [`Prover::to_pkcs8`].
    ///
    /// # Errors
    /// A [`ProverError`].
    pub fn from_pkcs8(bytes: &Secret<Vec<u8>>) -> Result<Self, ProverError> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes.expose());
        pair.map(Self::new).map_err(|_| ProverError)
    }

    /// The key as PKCS #8, to be stored with its tokens.
    ///
    /// # Errors
    /// [`SignError::Key`] when it cannot be encoded.
    pub fn to_pkcs8(&self) -> Result<Secret<Vec<u8>>, SignError> {
        let document = self.pair.to_pkcs8v1().map_err(|_| SignError::Key)?;
        Ok(Secret::new(document.as_ref().to_vec()))
    }

    /// The thumbprint of the key (RFC 7638), for `dpop_jkt`.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let (x, y) = self.public_point();
        jwk_thumbprint(&x, &y)
    }

    /// Creates a proof for one request. Each request needs its own.
    ///
    /// # Errors
    /// A [`SignError`].
    pub fn create_proof(
        &self,
        request: &ProofRequest<'_>,
        now: SystemTime,
    ) -> Result<Secret<String>, SignError> {
        let (x, y) = self.public_point();
        let header = json!({
            "typ": "dpop+jwt",
            "alg": "ES256",
            "jwk": {"kty": "EC", "crv": "P-256", "x": x, "y": y},
        });
        jwt::sign_token(&header, &self.proof_claims(request, now)?, |message| {
            let signature = self.pair.sign(&SystemRandom::new(), message).map_err(|_| SignError::Key)?;
            Ok(signature.as_ref().to_vec())
        })
    }

    /// Remembers the nonce for later proofs to this server; returns whether it is valid.
    pub fn remember_nonce(&self, party: ProofReceiver, url: &Url, nonce: &str) -> bool {
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
        nonces.push(ServerNonce { party, origin, value: nonce.to_owned() });
        true
    }

    fn new(pair: EcdsaKeyPair) -> Self {
        Self { pair, nonces: Mutex::new(Vec::new()) }
    }

    fn proof_claims(&self, request: &ProofRequest<'_>, now: SystemTime) -> Result<Value, SignError> {
        let ProofRequest { method, url, token } = request;
        let mut claims = json!({
            "jti": jwt::random_id()?,
            "htm": method,
            "htu": strip_query(url),
            "iat": unix_seconds(now),
        });
        if let Some(token) = token {
            claims["ath"] = hash(token.expose()).into();
        }
        let party = if token.is_some() { ProofReceiver::Resource } else { ProofReceiver::Issuer };
        if let Some(nonce) = self.nonce_for(party, url) {
            claims["nonce"] = nonce.into();
        }
        Ok(claims)
    }

    fn nonce_for(&self, party: ProofReceiver, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        let nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = nonces.iter().find(|nonce| nonce.party == party && nonce.origin == origin);
        known.map(|nonce| nonce.value.clone())
    }

    /// The public key as its two coordinates; the bytes are `04 ‖ x ‖ y`.
    fn public_point(&self) -> (String, String) {
        let bytes = self.pair.public_key().as_ref();
        let (x, y) = bytes.get(1..).unwrap_or_default().split_at_checked(32).unwrap_or_default();
        (jwt::encode_base64url(x), jwt::encode_base64url(y))
    }
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prover").field(&self.thumbprint()).finish()
    }
}

/// The address without query and fragment, as `htu` has it.
fn strip_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

fn hash(text: &str) -> String {
    jwt::encode_base64url(Sha256::digest(text.as_bytes()))
}

/// The thumbprint: the members in this order and without spaces (RFC 7638, 3).
fn jwk_thumbprint(x: &str, y: &str) -> String {
    hash(&format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#))
}
