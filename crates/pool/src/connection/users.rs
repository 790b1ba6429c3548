//! The hosts that use a connection: the name under which each uses it, and the channels that notify it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::name::ServerName;
use tokio::sync::{broadcast, watch};

use super::state::{ServerStatus, StatusEvent};
use crate::host_id::HostId;

/// A user of a connection: a host and the name under which it uses the connection.
#[derive(Clone, Debug)]
pub struct ConnectionUser {
    /// The host.
    pub host: HostId,
    /// The name.
    pub name: ServerName,
    /// A counter that is increased after each change.
    pub changes: Arc<watch::Sender<u64>>,
    /// Receives every new status.
    pub events: broadcast::Sender<StatusEvent>,
}

impl ConnectionUser {
    /// Notifies the host of a change, and of the new status if there is one.
    fn notify_host(&self, status: Option<&ServerStatus>) {
        self.changes.send_modify(|count| *count += 1);
        if let Some(status) = status {
            let event = StatusEvent { server: self.name.clone(), status: status.clone() };
            // Most events have no listener.
            let _unheard = self.events.send(event);
        }
    }
}

/// The users of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionUsers(Mutex<Vec<ConnectionUser>>);

impl ConnectionUsers {
    pub(super) fn new(first: ConnectionUser) -> Self {
        Self(Mutex::new(vec![first]))
    }

    pub(super) fn add_user(&self, user: ConnectionUser) {
        self.lock_users().push(user);
    }

    pub(super) fn remove_name(&self, host: HostId, name: &ServerName) {
        self.lock_users().retain(|user| user.host != host || user.name != *name);
    }

    /// Removes every name of a host and notifies it that the connection has stopped. The last host stays, to
    /// be notified of the end itself; returns whether this is the last host.
    pub(super) fn remove_host(&self, host: HostId) -> bool {
        let mut users = self.lock_users();
        let is_last = users.iter().all(|user| user.host == host);
        if !is_last {
            users
                .iter()
                .filter(|user| user.host == host)
                .for_each(|user| user.notify_host(Some(&ServerStatus::Stopped)));
            users.retain(|user| user.host != host);
        }
        is_last
    }

    pub(super) fn has_others(&self, host: HostId, name: &ServerName) -> bool {
        self.lock_users().iter().any(|user| user.host != host || user.name != *name)
    }

    pub(super) fn count(&self) -> usize {
        self.lock_users().len()
    }

    /// Notifies every user of a change, and of the new status if there is one.
    pub(super) fn notify_all(&self, status: Option<&ServerStatus>) {
        self.lock_users().iter().for_each(|user| user.notify_host(status));
    }

    fn lock_users(&self) -> MutexGuard<'_, Vec<ConnectionUser>> {
        // Every change is a single step, so a panic leaves the list consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
