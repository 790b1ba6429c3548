//! A public key of an issuer, and the algorithms it verifies (RFC 7517, RFC 7518, RFC 8037).
//!
//! The key decides which algorithms it is for, never the token: a token with another one finds no key. There is
//! no algorithm with a shared secret, and none without a signature.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// A signature algorithm with a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// RSA with PKCS #1 v1.5 padding and SHA-256.
    Rs256,
    /// RSA with PKCS #1 v1.5 padding and SHA-384.
    Rs384,
    /// RSA with PKCS #1 v1.5 padding and SHA-512.
    Rs512,
    /// RSA with PSS padding and SHA-256.
    Ps256,
    /// RSA with PSS padding and SHA-384.
    Ps384,
    /// RSA with PSS padding and SHA-512.
    Ps512,
    /// ECDSA with P-256.
    Es256,
    /// ECDSA with P-384.
    Es384,
    /// ECDSA with P-521.
    Es512,
    /// Ed25519.
    EdDsa,
}

/// A public key, parsed for each of its algorithms.
#[derive(Debug)]
pub(crate) struct VerificationKey {
    pub(crate) id: Option<String>,
    parsed: Vec<(SignatureAlgorithm, ParsedPublicKey)>,
}

/// A key as its issuer writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct JsonWebKey {
    kty: String,
    kid: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl SignatureAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 10] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::EdDsa,
    ];

    /// The algorithm of a name, compared byte for byte.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }

    /// The name in a token's header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The type of keys, and the curve.
    fn key_type(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => {
                ("RSA", None)
            }
            Self::Es256 => ("EC", Some("P-256")),
            Self::Es384 => ("EC", Some("P-384")),
            Self::Es512 => ("EC", Some("P-521")),
            Self::EdDsa => ("OKP", Some("Ed25519")),
        }
    }

    /// Parses the bytes of a key for this algorithm.
    fn parse_key(self, bytes: &[u8]) -> Option<ParsedPublicKey> {
        let parsed = match self {
            Self::Rs256 => ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, bytes),
            Self::Rs384 => ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA384, bytes),
            Self::Rs512 => ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA512, bytes),
            Self::Ps256 => ParsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, bytes),
            Self::Ps384 => ParsedPublicKey::new(&RSA_PSS_2048_8192_SHA384, bytes),
            Self::Ps512 => ParsedPublicKey::new(&RSA_PSS_2048_8192_SHA512, bytes),
            Self::Es256 => ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes),
            Self::Es384 => ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, bytes),
            Self::Es512 => ParsedPublicKey::new(&ECDSA_P521_SHA512_FIXED, bytes),
            Self::EdDsa => ParsedPublicKey::new(&ED25519, bytes),
        };
        parsed.ok()
    }
}

impl VerificationKey {
    /// Parses a key; `None` if it is for encryption, of an unknown type, or damaged.
    pub(crate) fn parse(key: JsonWebKey) -> Option<Self> {
        let is_verifying = key.key_ops.as_ref().is_none_or(|all| all.iter().any(|one| one == "verify"));
        if !is_verifying || key.r#use.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = key.public_bytes()?;
        let is_for = |algorithm: &SignatureAlgorithm| {
            let (kind, curve) = algorithm.key_type();
            key.kty == kind
                && (curve.is_none() || key.crv.as_deref() == curve)
                && key.alg.as_deref().is_none_or(|name| name == algorithm.as_str())
        };
        let algorithms = SignatureAlgorithm::ALL.into_iter().filter(is_for);
        let parsed: Vec<_> =
            algorithms.filter_map(|algorithm| Some((algorithm, algorithm.parse_key(&bytes)?))).collect();
        (!parsed.is_empty()).then_some(Self { id: key.kid, parsed })
    }

    /// Whether the key is for an algorithm.
    pub(crate) fn is_for(&self, algorithm: SignatureAlgorithm) -> bool {
        self.parsed.iter().any(|(known, _)| *known == algorithm)
    }

    /// Whether a signature of this algorithm fits a message.
    pub(crate) fn verify_signature(
        &self,
        algorithm: SignatureAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let parsed = self.parsed.iter().find(|(known, _)| *known == algorithm);
        parsed.is_some_and(|(_, key)| key.verify_sig(message, signature).is_ok())
    }
}

impl JsonWebKey {
    /// The key in the form that the library reads: PKCS #1 for RSA, an uncompressed point for EC, the bytes of
    /// Ed25519.
    fn public_bytes(&self) -> Option<Vec<u8>> {
        let number = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_ref()?).ok();
        match self.kty.as_str() {
            "RSA" => Some(rsa_key_der(&number(&self.n)?, &number(&self.e)?)),
            "EC" => Some([vec![4], number(&self.x)?, number(&self.y)?].concat()),
            "OKP" => number(&self.x),
            _ => None,
        }
    }
}

/// An `RSAPublicKey` in DER (RFC 8017, appendix A.1.1).
fn rsa_key_der(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let numbers = [der_integer(modulus), der_integer(exponent)].concat();
    der_element(0x30, &numbers)
}

/// A positive number in DER: without leading zeros but the one that keeps the first bit clear.
fn der_integer(number: &[u8]) -> Vec<u8> {
    let first = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    let number = number.get(first..).unwrap_or_default();
    match number.first() {
        Some(byte) if byte & 0x80 == 0 => der_element(2, number),
        Some(_) | None => der_element(2, &[&[0], number].concat()),
    }
}

fn der_element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let first = length.iter().position(|byte| *byte != 0).unwrap_or(length.len());
    let length = length.get(first..).unwrap_or_default();
    let mut element = vec![tag];
    match (length, u8::try_from(length.len())) {
        ([], _) => element.push(0),
        ([short], _) if *short < 0x80 => element.push(*short),
        (long, Ok(count)) => {
            element.push(0x80 | count);
            element.extend_from_slice(long);
        }
        // A length has at most eight bytes.
        (_, Err(_)) => {}
    }
    element.extend_from_slice(content);
    element
}
