//! The resources of a server that somebody watches: shared by all who do, kept over every reconnection (X1).
//!
//! How a server is told to tell is done by `listen`, in the way of its era. Here is only who wants to know, whether the
//! server has agreed, and how often it has told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcparley_model::limits::WATCHED_RESOURCES;
use mcparley_wire::{Failure, RawJson};
use tokio::sync::watch;

/// What is watched of one server.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    resources: Mutex<BTreeMap<String, Entry>>,
    /// Counts how often it has changed what is watched.
    wishes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Entry {
    watchers: usize,
    news: watch::Sender<News>,
}

/// What is known of a resource that is watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    pub(crate) standing: SubscriptionState,
    /// How often it has changed, or may have.
    pub(crate) updates: u64,
}

/// Whether the server tells.
#[derive(Clone, Debug, Default)]
pub(crate) enum SubscriptionState {
    /// It has not been asked yet.
    #[default]
    Wished,
    /// It does.
    Taken,
    /// It does not want to.
    Refused(Failure),
}

/// One who watches. Dropping it is to watch no more.
#[derive(Debug)]
pub(crate) struct Watcher {
    uri: String,
    watched: Weak<Watched>,
    pub(crate) news: watch::Receiver<News>,
}

impl Watched {
    /// Watches a resource; nobody can if too many are watched already.
    pub(crate) fn watch(self: &Arc<Self>, uri: &str) -> Option<Watcher> {
        let mut resources = self.locked();
        let is_new = !resources.contains_key(uri);
        if is_new && resources.len() >= WATCHED_RESOURCES {
            return None;
        }
        let fresh = || Entry { watchers: 0, news: watch::Sender::new(News::default()) };
        let entry = resources.entry(uri.to_owned()).or_insert_with(fresh);
        entry.watchers += 1;
        let is_refused = matches!(entry.news.borrow().standing, SubscriptionState::Refused(_));
        if is_refused {
            entry.news.send_modify(|news| news.standing = SubscriptionState::Wished);
        }
        let news = entry.news.subscribe();
        drop(resources);
        if is_new || is_refused {
            self.wishes.send_modify(|count| *count += 1);
        }
        Some(Watcher { uri: uri.to_owned(), watched: Arc::downgrade(self), news })
    }

    fn release(&self, uri: &str) {
        let mut resources = self.locked();
        let Some(entry) = resources.get_mut(uri) else { return };
        entry.watchers -= 1;
        if entry.watchers == 0 {
            resources.remove(uri);
            drop(resources);
            self.wishes.send_modify(|count| *count += 1);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.locked().is_empty()
    }

    /// Changes when something else is to be watched.
    pub(super) fn wishes(&self) -> watch::Receiver<u64> {
        self.wishes.subscribe()
    }

    /// What the server is to tell about; not what it has refused.
    pub(super) fn uris(&self) -> Vec<String> {
        let is_wanted =
            |entry: &Entry| !matches!(entry.news.borrow().standing, SubscriptionState::Refused(_));
        self.locked().iter().filter(|(_, entry)| is_wanted(entry)).map(|(uri, _)| uri.clone()).collect()
    }

    /// The server tells about it from now on. If it did before and `missed` some time, it may have changed meanwhile.
    pub(super) fn taken(&self, uri: &str, missed: bool) {
        self.tell(uri, |news| {
            if missed && matches!(news.standing, SubscriptionState::Taken) {
                news.updates += 1;
            }
            news.standing = SubscriptionState::Taken;
        });
    }

    /// The server does not want to tell about it.
    pub(super) fn refused(&self, uri: &str, failure: &Failure) {
        self.tell(uri, |news| news.standing = SubscriptionState::Refused(failure.clone()));
    }

    /// The server says that a resource has changed: one that is watched, or one below it.
    pub(super) fn updated(&self, params: Option<&RawJson>) {
        let uri = params.and_then(|params| params.member("uri")).and_then(|uri| uri.decode::<String>().ok());
        let Some(uri) = uri else { return };
        for (watched, entry) in self.locked().iter() {
            let below = uri.strip_prefix(watched.as_str());
            if below.is_some_and(|below| below.is_empty() || watched.ends_with('/') || below.starts_with('/'))
            {
                entry.news.send_modify(|news| news.updates += 1);
            }
        }
    }

    fn tell(&self, uri: &str, change: impl FnOnce(&mut News)) {
        if let Some(entry) = self.locked().get(uri) {
            entry.news.send_modify(change);
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(watched) = self.watched.upgrade() {
            watched.release(&self.uri);
        }
    }
}
