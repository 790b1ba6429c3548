//! The key a client signs with (`private_key_jwt`, RFC 7523).
//!
//! The algorithm follows from the key; a server's list can only choose among those the key can do.

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

/// A private key, and what it can sign.
pub struct SigningKey(Pair);

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Rsa(rsa::KeyPair),
    Ed25519(Ed25519KeyPair),
}

/// How something is signed (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA with P-256.
    Es256,
    /// ECDSA with P-384.
    Es384,
    /// RSA as everybody has it.
    Rs256,
    /// RSA as servers with high demands want it.
    Ps256,
    /// Ed25519.
    EdDsa,
}

/// Why a text is not a key we can sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no private key in it.
    #[error("there is no private key in PEM")]
    NoKey,
    /// It wants a password.
    #[error("the private key is encrypted")]
    Encrypted,
    /// It is of a kind we do not know, or damaged.
    #[error("the private key is damaged, or of an unknown kind")]
    Unknown,
}

impl SigningKey {
    /// Reads a key from PEM: PKCS#8, SEC1 or PKCS#1.
    ///
    /// # Errors
    /// A [`KeyError`], which says nothing of what was read.
    pub fn from_pem(pem: &Secret<String>) -> Result<Self, KeyError> {
        let text = pem.expose();
        if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| KeyError::NoKey)?;
        let pair = match &key {
            PrivateKeyDer::Pkcs8(der) => pair_in(der.secret_pkcs8_der()),
            PrivateKeyDer::Sec1(der) => curve_pair(der.secret_sec1_der()),
            PrivateKeyDer::Pkcs1(der) => rsa::KeyPair::from_der(der.secret_pkcs1_der()).ok().map(Pair::Rsa),
            _ => None,
        };
        pair.map(Self).ok_or(KeyError::Unknown)
    }

    /// What it can sign with; the first is used unless a server wants another.
    #[must_use]
    pub fn algorithms(&self) -> &'static [Algorithm] {
        match self.0 {
            Pair::P256(_) => &[Algorithm::Es256],
            Pair::P384(_) => &[Algorithm::Es384],
            Pair::Rsa(_) => &[Algorithm::Rs256, Algorithm::Ps256],
            Pair::Ed25519(_) => &[Algorithm::EdDsa],
        }
    }

    /// The algorithm for a server that takes those of `listed`; one that lists none takes any.
    #[must_use]
    pub fn algorithm_among(&self, listed: Option<&[String]>) -> Option<Algorithm> {
        let listed = listed.filter(|names| !names.is_empty());
        let takes = |known: &Algorithm| listed.is_none_or(|names| names.iter().any(|n| n == known.as_str()));
        self.algorithms().iter().copied().find(takes)
    }

    /// The signature of `message`. An algorithm the key cannot do gives an error.
    pub(crate) fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match (&self.0, algorithm) {
            (Pair::P256(pair), Algorithm::Es256) | (Pair::P384(pair), Algorithm::Es384) => {
                let signature = pair.sign(&SystemRandom::new(), message).map_err(|_| SignError::Key)?;
                Ok(signature.as_ref().to_vec())
            }
            (Pair::Rsa(pair), Algorithm::Rs256) => rsa_signature(pair, &RSA_PKCS1_SHA256, message),
            (Pair::Rsa(pair), Algorithm::Ps256) => rsa_signature(pair, &RSA_PSS_SHA256, message),
            (Pair::Ed25519(pair), Algorithm::EdDsa) => pair
                .try_sign(message)
                .map(|signature| signature.as_ref().to_vec())
                .map_err(|_| SignError::Key),
            (Pair::P256(_) | Pair::P384(_) | Pair::Rsa(_) | Pair::Ed25519(_), _) => Err(SignError::Key),
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

fn pair_in(der: &[u8]) -> Option<Pair> {
    curve_pair(der)
        .or_else(|| rsa::KeyPair::from_pkcs8(der).ok().map(Pair::Rsa))
        .or_else(|| Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Pair::Ed25519))
}

fn curve_pair(der: &[u8]) -> Option<Pair> {
    let on = |curve| EcdsaKeyPair::from_private_key_der(curve, der).ok();
    let p256 = on(&ECDSA_P256_SHA256_FIXED_SIGNING).map(Pair::P256);
    p256.or_else(|| on(&ECDSA_P384_SHA384_FIXED_SIGNING).map(Pair::P384))
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
