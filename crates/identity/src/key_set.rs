//! The published keys of an issuer (RFC 7517, section 5).

use std::sync::Arc;

use mcparley_model::limits::ISSUER_KEYS;
use serde::Deserialize;
use serde_json::Value;

use crate::access_refusal::AccessRefusal;
use crate::verification_key::{JsonWebKey, SignatureAlgorithm, VerificationKey};

/// The keys of an issuer that can verify signatures.
#[derive(Debug)]
pub(crate) struct KeySet(Vec<Arc<VerificationKey>>);

#[derive(Deserialize)]
struct WrittenKeys {
    keys: Vec<Value>,
}

impl KeySet {
    /// Parses a key set. Keys that cannot be used are left out; `None` if no key is left.
    pub(crate) fn parse(document: &[u8]) -> Option<Self> {
        let WrittenKeys { keys } = serde_json::from_slice(document).ok()?;
        let keys = keys.into_iter().take(ISSUER_KEYS);
        let keys = keys.filter_map(|key| VerificationKey::parse(JsonWebKey::deserialize(key).ok()?));
        let keys: Vec<_> = keys.map(Arc::new).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// The key of a token. A token that names no key is one of the only key for its algorithm.
    pub(crate) fn find_key(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
    ) -> Result<Arc<VerificationKey>, AccessRefusal> {
        let is_named = |key: &&Arc<VerificationKey>| id.is_none() || key.id.as_deref() == id;
        let mut fitting = self.0.iter().filter(is_named).filter(|key| key.is_for(algorithm));
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Ok(Arc::clone(key)),
            (Some(key), Some(_)) if id.is_some() => Ok(Arc::clone(key)),
            (Some(_), Some(_)) => Err(AccessRefusal::UnknownKey),
            (None, _) if id.is_some() && self.0.iter().any(|key| is_named(&key)) => {
                Err(AccessRefusal::KeyType)
            }
            (None, _) => Err(AccessRefusal::UnknownKey),
        }
    }
}
