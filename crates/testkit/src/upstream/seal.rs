//! Seals the request state, so that a changed one is noticed.

use super::rpc::RpcFailure;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::hash::{BuildHasher, Hasher, RandomState};

/// A key that differs from process to process.
#[derive(Debug)]
pub(crate) struct StateSeal {
    key: [u8; 8],
}

impl StateSeal {
    pub(crate) fn new() -> Self {
        Self { key: RandomState::new().build_hasher().finish().to_be_bytes() }
    }

    pub(crate) fn seal_state(&self, state: &Value) -> String {
        let body = URL_SAFE_NO_PAD.encode(state.to_string());
        let mark = self.mark(&body);
        format!("{body}.{mark}")
    }

    /// Opens a state that this process sealed.
    pub(crate) fn open_state(&self, text: &Value) -> Result<Value, RpcFailure> {
        let opened = text.as_str().and_then(|text| {
            let (body, mark) = text.split_once('.')?;
            let bytes = URL_SAFE_NO_PAD.decode(body).ok().filter(|_| mark == self.mark(body))?;
            serde_json::from_slice(&bytes).ok()
        });
        opened.ok_or_else(|| RpcFailure::new(-32602, "requestState is not valid"))
    }

    fn mark(&self, body: &str) -> String {
        // The key on both sides keeps a mark from being extended.
        let digest =
            Sha256::new().chain_update(self.key).chain_update(body).chain_update(self.key).finalize();
        URL_SAFE_NO_PAD.encode(digest)
    }
}
