//! The sessions in memory by their ids and keys, and the ids of deleted ones.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcparley_cluster::seconds_since_epoch;
use mcparley_model::limits::DOOR_DELETED_SESSIONS;

use crate::http_session::HttpSession;

/// The sessions in memory.
#[derive(Debug, Default)]
pub(crate) struct SessionIndex {
    by_id: HashMap<Arc<str>, Arc<HttpSession>>,
    /// The ids by the names that other gateways know.
    ids: HashMap<Arc<str>, Arc<str>>,
}

/// The keys of deleted sessions, in the order of their deletion.
#[derive(Debug, Default)]
pub(crate) struct DeletedSessions {
    keys: HashSet<Arc<str>>,
    order: VecDeque<(Arc<str>, u64)>,
}

impl SessionIndex {
    pub(crate) fn find_by_id(&self, id: &str) -> Option<&Arc<HttpSession>> {
        self.by_id.get(id)
    }

    pub(crate) fn find_by_key(&self, key: &str) -> Option<&Arc<HttpSession>> {
        self.by_id.get(self.ids.get(key)?)
    }

    /// Adds a session, unless there is one with its id. Returns the one that stays.
    pub(crate) fn add_session(&mut self, session: Arc<HttpSession>) -> Arc<HttpSession> {
        if let Some(http) = session.session.http_identity() {
            self.ids.insert(Arc::clone(&http.key), Arc::clone(&session.id));
        }
        Arc::clone(self.by_id.entry(Arc::clone(&session.id)).or_insert(session))
    }

    pub(crate) fn remove_session(&mut self, id: &str) {
        let removed = self.by_id.remove(id);
        if let Some(http) = removed.as_ref().and_then(|session| session.session.http_identity()) {
            self.ids.remove(&http.key);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// All sessions.
    pub(crate) fn all_sessions(&self) -> impl Iterator<Item = &Arc<HttpSession>> {
        self.by_id.values()
    }
}

impl DeletedSessions {
    /// Adds a deleted session; the one that was deleted first makes room for it.
    pub(crate) fn add_key(&mut self, key: Arc<str>) {
        if self.keys.insert(Arc::clone(&key)) {
            self.order.push_back((key, seconds_since_epoch()));
        }
        while self.order.len() > DOOR_DELETED_SESSIONS {
            self.remove_first();
        }
    }

    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Removes those that were deleted longer ago than this.
    pub(crate) fn remove_older(&mut self, age: Duration) {
        let now = seconds_since_epoch();
        while self.order.front().is_some_and(|(_, since)| now.saturating_sub(*since) > age.as_secs()) {
            self.remove_first();
        }
    }

    fn remove_first(&mut self) {
        if let Some((key, _)) = self.order.pop_front() {
            self.keys.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    //! The limit of deleted sessions.
    use super::*;

    // G4
    #[test]
    fn session_that_was_deleted_first_is_forgotten_beyond_the_limit() {
        let mut deleted = DeletedSessions::default();
        for number in 0..=DOOR_DELETED_SESSIONS {
            deleted.add_key(Arc::from(number.to_string()));
        }
        assert!(!deleted.has_key("0"));
        assert!(deleted.has_key("1") && deleted.has_key(&DOOR_DELETED_SESSIONS.to_string()));
        assert_eq!((deleted.keys.len(), deleted.order.len()), (DOOR_DELETED_SESSIONS, DOOR_DELETED_SESSIONS));
    }
}
