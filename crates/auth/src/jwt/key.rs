//! The key a client signs with (`private_key_jwt`, RFC 7523).
//!
//! The key determines the algorithms; a server's list only chooses among them.

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding,
};
use mcparley_model::explain::Explain;
use mcparley_model::secret::Secret;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;

use super::SignError;

/// A private key for signing.
pub struct SigningKey(SigningKeyPair);

enum SigningKeyPair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Rsa(rsa::KeyPair),
    Ed25519(Ed25519KeyPair),
}

/// A signature algorithm (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA with P-256.
    Es256,
    /// ECDSA with P-384.
    Es384,
    /// RSA with PKCS #1 v1.5 padding, which all servers support.
    Rs256,
    /// RSA with PSS padding, which servers with stricter rules demand.
    Ps256,
    /// Ed25519.
    EdDsa,
}

/// The reason why a text is not a usable key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text contains no private key.
    #[error("no private key in PEM format found")]
    NoKey,
    /// The key is encrypted with a password.
    #[error("the private key is encrypted")]
    Encrypted,
    /// The key is of an unknown type, or damaged.
    #[error("the private key is damaged or of an unknown type")]
    Unknown,
}

impl SigningKey {
    /// Parses a key from PEM: PKCS#8, SEC1 or PKCS#1.
    ///
    /// # Errors
    /// A [`KeyError`], which contains no part of the text.
    pub fn from_pem(pem: &Secret<String>) -> Result<Self, KeyError> {
        let text = pem.expose();
        if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NoKey)?;
        let pair = match &key {
            PrivateKeyDer::Pkcs8(der) => parse_pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Sec1(der) => parse_ec_key(der.secret_sec1_der()),
            PrivateKeyDer::Pkcs1(der) => {
                rsa::KeyPair::from_der(der.secret_pkcs1_der()).ok().map(SigningKeyPair::Rsa)
            }
            _ => None,
        };
        pair.map(Self).ok_or(KeyError::Unknown)
    }

    /// The algorithms it can sign with; the first is used unless a server wants another.
    #[must_use]
    pub fn algorithms(&self) -> &'static [Algorithm] {
        match self.0 {
            SigningKeyPair::P256(_) => &[Algorithm::Es256],
            SigningKeyPair::P384(_) => &[Algorithm::Es384],
            SigningKeyPair::Rsa(_) => &[Algorithm::Rs256, Algorithm::Ps256],
            SigningKeyPair::Ed25519(_) => &[Algorithm::EdDsa],
        }
    }

    /// Chooses the algorithm for a server that supports `listed`; one without a list supports any.
    #[must_use]
    pub fn choose_algorithm(&self, listed: Option<&[String]>) -> Option<Algorithm> {
        let listed = listed.filter(|names| !names.is_empty());
        let takes = |known: &Algorithm| listed.is_none_or(|names| names.iter().any(|n| n == known.as_str()));
        self.algorithms().iter().copied().find(takes)
    }

    /// Signs `message`. An algorithm that the key does not support is an error.
    pub(crate) fn sign_message(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match (&self.0, algorithm) {
            (SigningKeyPair::P256(pair), Algorithm::Es256)
            | (SigningKeyPair::P384(pair), Algorithm::Es384) => {
                let signature = pair.sign(&SystemRandom::new(), message).map_err(|_| SignError::Key)?;
                Ok(signature.as_ref().to_vec())
            }
            (SigningKeyPair::Rsa(pair), Algorithm::Rs256) => rsa_signature(pair, &RSA_PKCS1_SHA256, message),
            (SigningKeyPair::Rsa(pair), Algorithm::Ps256) => rsa_signature(pair, &RSA_PSS_SHA256, message),
            (SigningKeyPair::Ed25519(pair), Algorithm::EdDsa) => pair
                .try_sign(message)
                .map(|signature| signature.as_ref().to_vec())
                .map_err(|_| SignError::Key),
            (
                SigningKeyPair::P256(_)
                | SigningKeyPair::P384(_)
                | SigningKeyPair::Rsa(_)
                | SigningKeyPair::Ed25519(_),
                _,
            ) => Err(SignError::Key),
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.algorithms()).finish()
    }
}

impl Algorithm {
    /// Its name in a header and in metadata.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl Explain for KeyError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoKey => "a private key in PEM begins with `-----BEGIN PRIVATE KEY-----`".to_owned(),
            Self::Encrypted => "remove its password: `openssl pkcs8 -topk8 -nocrypt -in key.pem`".to_owned(),
            Self::Unknown => {
                "use an EC key on P-256 or P-384, an Ed25519 key, or an RSA key of 2048 bits or more"
                    .to_owned()
            }
        })
    }
}

fn parse_pkcs8(der: &[u8]) -> Option<SigningKeyPair> {
    parse_ec_key(der)
        .or_else(|| rsa::KeyPair::from_pkcs8(der).ok().map(SigningKeyPair::Rsa))
        .or_else(|| Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(SigningKeyPair::Ed25519))
}

fn parse_ec_key(der: &[u8]) -> Option<SigningKeyPair> {
    let on = |curve| EcdsaKeyPair::from_private_key_der(curve, der).ok();
    let p256 = on(&ECDSA_P256_SHA256_FIXED_SIGNING).map(SigningKeyPair::P256);
    p256.or_else(|| on(&ECDSA_P384_SHA384_FIXED_SIGNING).map(SigningKeyPair::P384))
}

fn rsa_signature(
    pair: &rsa::KeyPair,
    padding: &'static dyn RsaEncoding,
    message: &[u8],
) -> Result<Vec<u8>, SignError> {
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(padding, &SystemRandom::new(), message, &mut signature).map_err(|_| SignError::Key)?;
    Ok(signature)
}
