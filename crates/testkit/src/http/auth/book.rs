//! What the authorization server has seen, for the page of figures.

use super::tokens::Tokens;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many requests are kept with their parameters.
const KEPT: usize = 500;

/// The counters, and the last requests.
#[derive(Debug, Default)]
pub(crate) struct Book {
    requests: BTreeMap<&'static str, u64>,
    grants: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    refused: BTreeMap<&'static str, u64>,
    last: BTreeMap<&'static str, Value>,
    recent: Vec<Value>,
}

impl Book {
    pub(crate) fn request(&mut self, endpoint: &'static str) {
        *self.requests.entry(endpoint).or_default() += 1;
    }

    pub(crate) fn grant(&mut self, grant: &str) {
        *self.grants.entry(grant.to_owned()).or_default() += 1;
    }

    pub(crate) fn error(&mut self, error: &str) {
        *self.errors.entry(error.to_owned()).or_default() += 1;
    }

    /// A request to the MCP server that was not let in.
    pub(crate) fn refused(&mut self, why: &'static str) {
        *self.refused.entry(why).or_default() += 1;
    }

    /// Keeps the parameters of a request.
    pub(crate) fn keep(&mut self, endpoint: &'static str, parameters: Value) {
        if self.recent.len() < KEPT {
            self.recent.push(json!({ "endpoint": endpoint, "parameters": &parameters }));
        }
        self.last.insert(endpoint, parameters);
    }

    pub(crate) fn to_value(&self, tokens: &Tokens) -> Value {
        json!({
            "requests": self.requests,
            "grants": self.grants,
            "errors": self.errors,
            "refused": self.refused,
            "issued": tokens.issued(),
            "replays": tokens.replays(),
            "last": self.last,
            "recent": self.recent,
        })
    }
}
