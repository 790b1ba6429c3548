//! The values of a session that change after its handshake, as all gateways of a cluster know them: log level, roots,
//! subscriptions and found tools.
//!
//! A gateway loads them when it first sees the session, and again when another gateway has changed one.

use std::collections::HashMap;

use mcparley::model::log_level::LogLevel;
use mcparley::pool::roots::Root;
use mcparley_cluster::{SharedStoreError, StoreChange};
use mcparley_model::limits::DOOR_SESSION_TIME;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster_link::messages::ClusterNews;
use crate::session::GatewaySession;

/// The log level that the client has set.
pub(crate) const LEVEL: &str = "level";
/// The roots of the client.
pub(crate) const ROOTS: &str = "roots";
/// The addresses of the resources that the client is subscribed to.
pub(crate) const SUBSCRIPTIONS: &str = "subscriptions";
/// The tools that the client has found.
pub(crate) const FOUND: &str = "found";
/// Whether the client has requested a list, so that it is told about changes.
pub(crate) const LISTED: &str = "listed";

impl GatewaySession {
    /// Shares a value of the session with the other gateways.
    pub(crate) fn share_value(&self, field: &'static str, value: &impl Serialize) {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return;
        };
        let Ok(value) = serde_json::to_vec(value) else { return };
        let key = link.member.keys().session_values(&http.key);
        link.member.write_later(StoreChange::PutFields {
            key,
            fields: vec![(field, value)],
            ttl: DOOR_SESSION_TIME,
        });
        link.announce_news(&ClusterNews::Changed { from: link.instance(), session: http.key.to_string() });
    }

    /// Loads the values of the session from the shared state. Returns whether the session goes on, and was not deleted.
    ///
    /// # Errors
    /// When the shared state is away.
    pub(crate) async fn load_values(&self) -> Result<bool, SharedStoreError> {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return Ok(true);
        };
        let (store, keys) = (link.member.store(), link.member.keys());
        if store.fetch_value(keys.tombstone_key(&http.key)).await?.is_some() {
            return Ok(false);
        }
        let values = store.fetch_fields(keys.session_values(&http.key)).await?;
        self.apply_values(&values).await;
        // The client was asked by the gateway of its handshake; this one waits for nothing.
        self.shared.roots.awaited.send_replace(false);
        Ok(true)
    }

    /// Loads the values again, because another gateway has changed one.
    pub(crate) async fn reload_values(&self) {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return;
        };
        let key = link.member.keys().session_values(&http.key);
        if let Ok(values) = link.member.store().fetch_fields(key).await {
            self.apply_values(&values).await;
        }
    }

    async fn apply_values(&self, values: &HashMap<String, Vec<u8>>) {
        let level = decode_field::<String>(values, LEVEL).and_then(|level| level.parse::<LogLevel>().ok());
        if let Some(level) = level {
            self.apply_log_level(level);
        }
        if let Some(roots) = decode_field::<Vec<Root>>(values, ROOTS) {
            self.shared.gateway.roots.store_roots(self.shared.number, roots);
            self.shared.roots.awaited.send_replace(false);
        }
        if let Some(found) = decode_field::<Vec<String>>(values, FOUND) {
            self.shared.listing.add_found(found);
        }
        if decode_field::<bool>(values, LISTED).is_some() {
            self.shared.listing.assumed.notify_one();
        }
        if let Some(uris) = decode_field::<Vec<String>>(values, SUBSCRIPTIONS) {
            self.apply_subscriptions(uris).await;
        }
    }
}

fn decode_field<T: DeserializeOwned>(values: &HashMap<String, Vec<u8>>, field: &str) -> Option<T> {
    serde_json::from_slice(values.get(field)?).ok()
}
