//! The counters of the server, for the `/stats` page.

use crate::lock::lock;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters that are always listed.
const ALWAYS: [&str; 8] =
    ["initialize", "delete", "get", "otherOrigin", "unauthorized", "redirected", "sockets", "catalog"];

/// The counters of the server.
#[derive(Debug, Default)]
pub(crate) struct SiteStats {
    counts: Mutex<BTreeMap<&'static str, u64>>,
    posts: Mutex<BTreeMap<String, u64>>,
    connections: AtomicU64,
}

/// An open connection, counted until dropped.
#[derive(Debug)]
pub(crate) struct OpenConnection<'a>(&'a SiteStats);

impl SiteStats {
    pub(crate) fn count_event(&self, what: &'static str) {
        *lock(&self.counts).entry(what).or_default() += 1;
    }

    /// Counts one message by its method; replies to server requests are `response`.
    pub(crate) fn count_post(&self, method: Option<&str>) {
        let method = method.unwrap_or("response").to_owned();
        *lock(&self.posts).entry(method).or_default() += 1;
    }

    /// Counts a connection until the returned guard is dropped.
    pub(crate) fn count_connection(&self) -> OpenConnection<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        OpenConnection(self)
    }

    pub(crate) fn to_value(&self, more: [(&str, Value); 4]) -> Value {
        let counts = lock(&self.counts);
        let count = |name: &&'static str| json!(counts.get(name).copied().unwrap_or(0));
        let mut page: Map<String, Value> =
            ALWAYS.iter().map(|name| ((*name).to_owned(), count(name))).collect();
        page.insert("post".to_owned(), json!(*lock(&self.posts)));
        // The connection that asks for the page is not counted.
        let connections = self.connections.load(Ordering::Relaxed).saturating_sub(1);
        page.insert("openConnections".to_owned(), json!(connections));
        page.extend(more.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(page)
    }
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
