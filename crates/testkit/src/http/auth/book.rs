//! The counters and recent requests of the authorization server, for the `/stats` page.

use super::tokens::IssuedTokens;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The number of requests that are kept with their parameters.
const KEPT: usize = 500;

/// The counters and the most recent requests.
#[derive(Debug, Default)]
pub(crate) struct OAuthStats {
    requests: BTreeMap<&'static str, u64>,
    grants: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    refused: BTreeMap<&'static str, u64>,
    last: BTreeMap<&'static str, Value>,
    recent: Vec<Value>,
}

impl OAuthStats {
    pub(crate) fn count_request(&mut self, endpoint: &'static str) {
        *self.requests.entry(endpoint).or_default() += 1;
    }

    pub(crate) fn count_grant(&mut self, grant: &str) {
        *self.grants.entry(grant.to_owned()).or_default() += 1;
    }

    pub(crate) fn count_error(&mut self, error: &str) {
        *self.errors.entry(error.to_owned()).or_default() += 1;
    }

    /// Counts a request to the MCP server that was rejected.
    pub(crate) fn count_rejection(&mut self, why: &'static str) {
        *self.refused.entry(why).or_default() += 1;
    }

    /// Stores the parameters of a request.
    pub(crate) fn store_parameters(&mut self, endpoint: &'static str, parameters: Value) {
        if self.recent.len() < KEPT {
            self.recent.push(json!({ "endpoint": endpoint, "parameters": &parameters }));
        }
        self.last.insert(endpoint, parameters);
    }

    pub(crate) fn to_value(&self, tokens: &IssuedTokens) -> Value {
        json!({
            "requests": self.requests,
            "grants": self.grants,
            "errors": self.errors,
            "refused": self.refused,
            "issued": tokens.issued_counts(),
            "replays": tokens.replay_count(),
            "last": self.last,
            "recent": self.recent,
        })
    }
}
