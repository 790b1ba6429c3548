//! Remembers verified tokens by their hash, so that a client's next request costs no signature check.
//!
//! A bounded cache in two generations: when the newer one is full it becomes the older one, whose tokens are
//! forgotten. A token that is used moves to the newer one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use aws_lc_rs::digest::{SHA256, digest};
use mcparley_model::limits::VERIFIED_TOKENS;
use mcparley_pool::principal::ClientIdentity;

use crate::claims::is_over;

/// A token that was verified.
#[derive(Debug)]
pub(crate) struct VerifiedToken {
    pub(crate) identity: Arc<ClientIdentity>,
    pub(crate) audiences: Vec<String>,
    pub(crate) expires: SystemTime,
    /// The version of the issuer's keys with which it was verified.
    pub(crate) key_version: u64,
}

/// The verified tokens of one issuer.
#[derive(Debug, Default)]
pub(crate) struct VerifiedTokens(Mutex<TokenGenerations>);

#[derive(Debug, Default)]
struct TokenGenerations {
    newer: HashMap<TokenHash, Arc<VerifiedToken>>,
    older: HashMap<TokenHash, Arc<VerifiedToken>>,
}

/// The hash of a token.
pub(crate) type TokenHash = [u8; 32];

/// The hash by which a token is remembered.
pub(crate) fn hash_token(token: &str) -> TokenHash {
    let mut hash = [0; 32];
    hash.iter_mut().zip(digest(&SHA256, token.as_bytes()).as_ref()).for_each(|(ours, byte)| *ours = *byte);
    hash
}

impl VerifiedTokens {
    /// The token of this hash, if it is still valid and was verified with this version of the keys.
    pub(crate) fn find_token(
        &self,
        hash: &TokenHash,
        key_version: u64,
        now: SystemTime,
    ) -> Option<Arc<VerifiedToken>> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good =
            |token: &&Arc<VerifiedToken>| token.key_version == key_version && !is_over(token.expires, now);
        if let Some(found) = generations.newer.get(hash) {
            return Some(found).filter(is_good).cloned();
        }
        let found = generations.older.remove(hash).filter(|token| is_good(&token))?;
        generations.add_token(*hash, Arc::clone(&found));
        Some(found)
    }

    /// Remembers a token.
    pub(crate) fn add_token(&self, hash: TokenHash, token: Arc<VerifiedToken>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add_token(hash, token);
    }
}

impl TokenGenerations {
    fn add_token(&mut self, hash: TokenHash, token: Arc<VerifiedToken>) {
        if self.newer.len() >= VERIFIED_TOKENS {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(hash, token);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn token(expires: SystemTime) -> Arc<VerifiedToken> {
        let identity = Arc::new(ClientIdentity::new("jwt:x"));
        Arc::new(VerifiedToken { identity, audiences: Vec::new(), expires, key_version: 1 })
    }

    // G4
    #[test]
    fn remembered_token_ends_with_its_expiry_and_with_its_keys() {
        let (now, tokens) = (SystemTime::now(), VerifiedTokens::default());
        let hash = hash_token("a");
        tokens.add_token(hash, token(now + Duration::from_secs(60)));
        assert!(tokens.find_token(&hash, 1, now).is_some());
        assert!(tokens.find_token(&hash, 2, now).is_none(), "other keys");
        assert!(tokens.find_token(&hash_token("b"), 1, now).is_none());
        assert!(tokens.find_token(&hash, 1, now + Duration::from_secs(89)).is_some(), "clock skew");
        assert!(tokens.find_token(&hash, 1, now + Duration::from_secs(90)).is_none(), "expired");
    }

    // G4
    #[test]
    fn number_of_remembered_tokens_is_bounded_and_used_ones_stay() {
        let (now, tokens) = (SystemTime::now(), VerifiedTokens::default());
        let used = hash_token("used");
        tokens.add_token(used, token(now));
        for number in 0..4 * VERIFIED_TOKENS {
            tokens.add_token(hash_token(&number.to_string()), token(now));
            assert!(tokens.find_token(&used, 1, now).is_some(), "{number}");
        }
        let kept = tokens.0.lock().unwrap();
        assert!(kept.newer.len() + kept.older.len() <= 2 * VERIFIED_TOKENS);
    }
}
