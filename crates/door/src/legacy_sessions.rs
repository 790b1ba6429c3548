//! The sessions of clients that use HTTP+SSE of 2024-11-05.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_gateway::Gateway;

use crate::http_session::HttpSession;

/// The sessions of clients that use HTTP+SSE. A session lives as long as its event stream.
#[derive(Debug)]
pub(crate) struct LegacySessions {
    pub(crate) gateway: Gateway,
    sessions: Mutex<HashMap<Arc<str>, Arc<HttpSession>>>,
}

impl LegacySessions {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self { gateway, sessions: Mutex::default() }
    }

    pub(crate) fn find_session(&self, id: &str, principal: &Arc<str>) -> Option<Arc<HttpSession>> {
        self.lock_sessions().get(id).filter(|session| session.principal == *principal).cloned()
    }

    pub(crate) fn add_session(&self, session: Arc<HttpSession>) {
        self.lock_sessions().insert(Arc::clone(&session.id), session);
    }

    pub(crate) fn remove_session(&self, id: &str) {
        self.lock_sessions().remove(id);
    }

    /// Closes all sessions, at the end of the doors.
    pub(crate) fn close_sessions(&self) {
        let sessions: Vec<_> = self.lock_sessions().drain().map(|(_, session)| session).collect();
        sessions.iter().for_each(|session| session.close());
    }

    fn lock_sessions(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<HttpSession>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
