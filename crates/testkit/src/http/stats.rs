//! What the server has counted, for the `/stats` page.

use crate::lock::lock;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The figures that are always there.
const ALWAYS: [&str; 8] =
    ["initialize", "delete", "get", "otherOrigin", "unauthorized", "redirected", "sockets", "catalogue"];

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    counts: Mutex<BTreeMap<&'static str, u64>>,
    posts: Mutex<BTreeMap<String, u64>>,
    connections: AtomicU64,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a Stats);

impl Stats {
    pub(crate) fn count(&self, what: &'static str) {
        *lock(&self.counts).entry(what).or_default() += 1;
    }

    /// Counts one message by its method; answers to our questions are `response`.
    pub(crate) fn post(&self, method: Option<&str>) {
        let method = method.unwrap_or("response").to_owned();
        *lock(&self.posts).entry(method).or_default() += 1;
    }

    /// Counts a connection until it is dropped.
    pub(crate) fn open(&self) -> Open<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Open(self)
    }

    pub(crate) fn to_value(&self, more: [(&str, Value); 4]) -> Value {
        let counts = lock(&self.counts);
        let count = |name: &&'static str| json!(counts.get(name).copied().unwrap_or(0));
        let mut page: Map<String, Value> =
            ALWAYS.iter().map(|name| ((*name).to_owned(), count(name))).collect();
        page.insert("post".to_owned(), json!(*lock(&self.posts)));
        // The connection that asks does not count.
        let connections = self.connections.load(Ordering::Relaxed).saturating_sub(1);
        page.insert("openConnections".to_owned(), json!(connections));
        page.extend(more.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(page)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
