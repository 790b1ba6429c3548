//! The watched resources of a server: shared by all watchers, and kept over reconnects.
//!
//! The `listen` module sends the subscriptions, in the way of the server's era. This module only tracks the
//! watchers, the answer of the server, and the number of updates.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcparley_model::limits::WATCHED_RESOURCES;
use mcparley_wire::{Failure, RawJson};
use tokio::sync::watch;

/// The watched resources of one server.
#[derive(Debug, Default)]
pub struct ResourceWatches {
    resources: Mutex<BTreeMap<String, WatchedResource>>,
    /// A counter that is increased whenever the set of watched resources changes.
    changes: watch::Sender<u64>,
}

/// One watched resource.
#[derive(Debug)]
struct WatchedResource {
    watchers: usize,
    news: watch::Sender<WatchState>,
}

/// The state of a watched resource, as its watchers see it.
#[derive(Clone, Debug, Default)]
pub struct WatchState {
    pub subscription: SubscriptionState,
    /// The number of updates, including possibly missed ones.
    pub updates: u64,
    /// The newest notifications, as the server wrote their parameters, with the number of their update.
    recent: VecDeque<(u64, RawJson)>,
}

/// The state of a resource subscription.
#[derive(Clone, Debug, Default)]
pub enum SubscriptionState {
    /// The server has not answered yet.
    #[default]
    Requested,
    /// The server sends updates.
    Active,
    /// The server refused.
    Refused(Failure),
}

/// The number of notifications of one resource that are kept for slow watchers. Then a watcher learns only that
/// something has changed.
const RECENT_UPDATES: usize = 16;

impl WatchState {
    /// The update after the one of this number: its number, and the parameters of its notification. Updates whose
    /// notification is not known count as one.
    pub fn update_after(&self, seen: u64) -> (u64, Option<&RawJson>) {
        match self.recent.iter().find(|(number, _)| *number > seen) {
            Some((number, params)) if *number == seen + 1 => (*number, Some(params)),
            Some((number, _)) => (*number - 1, None),
            None => (self.updates, None),
        }
    }

    fn add_update(&mut self, params: &RawJson) {
        self.updates += 1;
        if self.recent.len() >= RECENT_UPDATES {
            self.recent.pop_front();
        }
        self.recent.push_back((self.updates, params.clone()));
    }
}

/// A watcher of one resource. Dropping it ends the watch.
#[derive(Debug)]
pub struct ResourceWatcher {
    uri: String,
    watched: Weak<ResourceWatches>,
    /// Receives the state of the resource.
    pub news: watch::Receiver<WatchState>,
}

impl ResourceWatches {
    /// Watches a resource; `None` if too many are watched already.
    pub fn watch_resource(self: &Arc<Self>, uri: &str) -> Option<ResourceWatcher> {
        let mut resources = self.lock_resources();
        let is_new = !resources.contains_key(uri);
        if is_new && resources.len() >= WATCHED_RESOURCES {
            return None;
        }
        let fresh = || WatchedResource { watchers: 0, news: watch::Sender::new(WatchState::default()) };
        let entry = resources.entry(uri.to_owned()).or_insert_with(fresh);
        entry.watchers += 1;
        let is_refused = matches!(entry.news.borrow().subscription, SubscriptionState::Refused(_));
        if is_refused {
            entry.news.send_modify(|news| news.subscription = SubscriptionState::Requested);
        }
        let news = entry.news.subscribe();
        drop(resources);
        if is_new || is_refused {
            self.changes.send_modify(|count| *count += 1);
        }
        Some(ResourceWatcher { uri: uri.to_owned(), watched: Arc::downgrade(self), news })
    }

    /// Removes a watcher; the last one ends the subscription.
    fn release_watcher(&self, uri: &str) {
        let mut resources = self.lock_resources();
        let Some(entry) = resources.get_mut(uri) else { return };
        entry.watchers -= 1;
        if entry.watchers == 0 {
            resources.remove(uri);
            drop(resources);
            self.changes.send_modify(|count| *count += 1);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock_resources().is_empty()
    }

    /// Subscribes to changes of the set of watched resources.
    pub(super) fn subscribe_changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The URIs to subscribe to, without those that the server has refused.
    pub(super) fn wanted_uris(&self) -> Vec<String> {
        let is_wanted = |entry: &WatchedResource| {
            !matches!(entry.news.borrow().subscription, SubscriptionState::Refused(_))
        };
        self.lock_resources()
            .iter()
            .filter(|(_, entry)| is_wanted(entry))
            .map(|(uri, _)| uri.clone())
            .collect()
    }

    /// Marks a subscription as active. If it was active before and updates may have been `missed`, it counts
    /// as updated.
    pub(super) fn mark_active(&self, uri: &str, missed: bool) {
        self.update_state(uri, |news| {
            if missed && matches!(news.subscription, SubscriptionState::Active) {
                news.updates += 1;
            }
            news.subscription = SubscriptionState::Active;
        });
    }

    /// Marks a subscription as refused by the server.
    pub(super) fn mark_refused(&self, uri: &str, failure: &Failure) {
        self.update_state(uri, |news| news.subscription = SubscriptionState::Refused(failure.clone()));
    }

    /// Handles an update notification: counts it for every watched resource that is the updated one or a
    /// parent of it.
    pub(super) fn handle_update(&self, params: Option<&RawJson>) {
        let Some(params) = params else { return };
        let Some(uri) = params.member("uri").and_then(|uri| uri.decode::<String>().ok()) else { return };
        for (watched, entry) in self.lock_resources().iter() {
            let below = uri.strip_prefix(watched.as_str());
            if below.is_some_and(|below| below.is_empty() || watched.ends_with('/') || below.starts_with('/'))
            {
                entry.news.send_modify(|news| news.add_update(params));
            }
        }
    }

    /// Changes the state of a watched resource and notifies its watchers.
    fn update_state(&self, uri: &str, change: impl FnOnce(&mut WatchState)) {
        if let Some(entry) = self.lock_resources().get(uri) {
            entry.news.send_modify(change);
        }
    }

    fn lock_resources(&self) -> MutexGuard<'_, BTreeMap<String, WatchedResource>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ResourceWatcher {
    fn drop(&mut self) {
        if let Some(watched) = self.watched.upgrade() {
            watched.release_watcher(&self.uri);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G3 G7
    #[test]
    fn watcher_gets_each_notification_and_a_gap_as_one_change() {
        let watches = Arc::new(ResourceWatches::default());
        let watcher = watches.watch_resource("test://a").unwrap();
        let update = |uri: &str| {
            watches
                .handle_update(Some(&RawJson::from_text(&format!(r#"{{"uri":"{uri}","_meta":{{"k":1}}}}"#))));
        };
        let heard = |seen: u64| {
            let state = watcher.news.borrow();
            let (number, params) = state.update_after(seen);
            (number, params.map(|params| params.member("uri").unwrap().as_str().to_owned()))
        };
        watches.mark_active("test://a", false);
        update("test://a/b");
        update("test://ab");
        update("test://a");
        assert_eq!(heard(0), (1, Some("\"test://a/b\"".to_owned())));
        assert_eq!(heard(1), (2, Some("\"test://a\"".to_owned())));
        watches.mark_active("test://a", true);
        assert_eq!(heard(2), (3, None), "it may have changed while the server was away");
        (0..RECENT_UPDATES + 5).for_each(|_| update("test://a"));
        let (number, params) = heard(3);
        assert_eq!((number, params), (8, None), "five are counted as one");
        assert!(heard(number).1.is_some());
    }
}
