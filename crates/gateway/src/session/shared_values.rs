//! The values of a session that change after its handshake, as all gateways of a cluster know them: log level, roots,
//! subscriptions and found tools.
//!
//! A gateway loads them when it first sees the session, and again when another gateway has changed one. Each item of a
//! list has a field of its own, so that two gateways change the list at once and lose nothing. Values are sealed for
//! their session and field, and the field of an item has a digest of it: access to the shared state shows neither.

use std::collections::HashMap;

use mcparley::model::log_level::LogLevel;
use mcparley::pool::roots::Root;
use mcparley_cluster::{SharedStoreError, StoreChange};
use mcparley_model::limits::DOOR_SESSION_TIME;
use serde::Serialize;

use crate::cluster_link::ClusterLink;
use crate::cluster_link::messages::ClusterNews;
use crate::session::GatewaySession;

/// The log level that the client has set.
pub(crate) const LEVEL: &str = "level";
/// The roots of the client.
pub(crate) const ROOTS: &str = "roots";
/// Whether the client has requested a list, so that it is told about changes.
pub(crate) const LISTED: &str = "listed";
/// The addresses of the resources that the client is subscribed to.
pub(crate) const SUBSCRIPTIONS: SharedList = SharedList("subscription");
/// The tools that the client has found.
pub(crate) const FOUND: SharedList = SharedList("found");

/// A list of a session, each item in a field of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedList(&'static str);

impl SharedList {
    /// The field of an item.
    fn field_of(self, link: &ClusterLink, item: &str) -> Option<String> {
        Some(format!("{}:{}", self.0, link.digest_name(self.0, item)?))
    }

    /// Whether a field is one of this list.
    fn has_field(self, field: &str) -> bool {
        field.strip_prefix(self.0).is_some_and(|rest| rest.starts_with(':'))
    }
}

impl GatewaySession {
    /// Shares a value of the session with the other gateways.
    pub(crate) fn share_value(&self, field: &str, value: &impl Serialize) {
        self.write_fields(|link, session| {
            let sealed = link.seal_field(session, field, value);
            sealed.map(|sealed| vec![(field.to_owned(), sealed)]).unwrap_or_default()
        });
    }

    /// Shares items of a list with the other gateways.
    pub(crate) fn share_items(&self, list: SharedList, items: &[String]) {
        let field = |link: &ClusterLink, session: &str, item: &String| {
            let field = list.field_of(link, item)?;
            let sealed = link.seal_field(session, &field, item)?;
            Some((field, sealed))
        };
        self.write_fields(|link, session| {
            items.iter().filter_map(|item| field(link, session, item)).collect()
        });
    }

    /// Removes an item of a list at all gateways.
    pub(crate) fn withdraw_item(&self, list: SharedList, item: &str) {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return;
        };
        let Some(field) = list.field_of(link, item) else { return };
        let (key, fields) = (link.member.keys().session_values(&http.key), vec![field.clone()]);
        link.member.write_later(StoreChange::RemoveFields { key, fields });
        let (from, session) = (link.instance(), http.key.to_string());
        link.announce_news(&ClusterNews::Changed { from, session, removed: Some(field) });
    }

    fn write_fields(&self, fields: impl FnOnce(&ClusterLink, &str) -> Vec<(String, Vec<u8>)>) {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return;
        };
        let fields = fields(link, &http.key);
        if fields.is_empty() {
            return;
        }
        let key = link.member.keys().session_values(&http.key);
        link.member.write_later(StoreChange::PutFields { key, fields, ttl: DOOR_SESSION_TIME });
        let (from, session) = (link.instance(), http.key.to_string());
        link.announce_news(&ClusterNews::Changed { from, session, removed: None });
    }

    /// Loads the values of the session from the shared state. Returns whether the session goes on, and was not deleted.
    ///
    /// # Errors
    /// When the shared state is away.
    pub async fn load_values(&self) -> Result<bool, SharedStoreError> {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return Ok(true);
        };
        let (store, keys) = (link.member.store(), link.member.keys());
        if store.fetch_value(keys.tombstone_key(&http.key)).await?.is_some() {
            return Ok(false);
        }
        self.reload_values(None).await?;
        // The client was asked by the gateway of its handshake; this one waits for nothing.
        self.shared.roots.awaited.send_replace(false);
        Ok(true)
    }

    /// Loads the values again, because another gateway has changed some, or has removed the item of a field.
    ///
    /// # Errors
    /// When the shared state is away.
    pub async fn reload_values(&self, removed: Option<&str>) -> Result<(), SharedStoreError> {
        let (Some(link), Some(http)) = (self.shared.gateway.cluster(), self.shared.http.get()) else {
            return Ok(());
        };
        // One at a time: values that were read earlier must not be applied later.
        let _turn = self.shared.reloading.lock().await;
        let values = link.member.store().fetch_fields(link.member.keys().session_values(&http.key)).await?;
        if let Some(removed) = removed.filter(|removed| !values.contains_key(*removed)) {
            self.remove_subscription(|uri| SUBSCRIPTIONS.field_of(link, uri).as_deref() == Some(removed));
        }
        self.apply_values(link, (&http.key, &values)).await;
        Ok(())
    }

    async fn apply_values(&self, link: &ClusterLink, (session, values): (&str, &HashMap<String, Vec<u8>>)) {
        let sealed = |field: &str| values.get(field).map(Vec::as_slice).unwrap_or_default();
        let level = link.open_field::<String>(session, LEVEL, sealed(LEVEL));
        if let Some(level) = level.and_then(|level| level.parse::<LogLevel>().ok()) {
            self.apply_log_level(level);
        }
        if let Some(roots) = link.open_field::<Vec<Root>>(session, ROOTS, sealed(ROOTS)) {
            self.shared.gateway.roots.store_roots(self.shared.number, roots);
            self.shared.roots.awaited.send_replace(false);
        }
        if link.open_field::<bool>(session, LISTED, sealed(LISTED)).is_some() {
            self.shared.listing.assumed.notify_one();
        }
        let items_of = |list: SharedList| {
            let fields = values.iter().filter(|(field, _)| list.has_field(field));
            let mut items: Vec<String> =
                fields.filter_map(|(field, sealed)| link.open_field(session, field, sealed)).collect();
            items.sort_unstable();
            items
        };
        self.shared.listing.add_found(items_of(FOUND));
        self.follow_subscriptions(items_of(SUBSCRIPTIONS)).await;
    }
}
