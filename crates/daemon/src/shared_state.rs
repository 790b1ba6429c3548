//! The state that all connections of the daemon share: its servers, its clients, whether it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::copy_table::CopyTable;
use crate::daemon_log::DaemonLog;
use crate::task_runner::TaskRunner;

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct DaemonShared {
    pub(crate) table: Arc<CopyTable>,
    /// The durable calls.
    pub(crate) tasks: TaskRunner,
    pub(crate) log: DaemonLog,
    /// The user id of the daemon, which its clients must have too.
    pub(crate) owner: u32,
    pub(crate) started_at: Instant,
    /// Whether the daemon takes no new clients.
    draining: watch::Sender<bool>,
    /// Whether the daemon has to end at once.
    stopping: watch::Sender<bool>,
    clients: AtomicUsize,
    /// Changes with each client that comes or leaves.
    client_changes: watch::Sender<Instant>,
}

/// Counts a client until it is dropped.
pub(crate) struct CountedClient(Arc<DaemonShared>);

impl DaemonShared {
    /// The state of a daemon of this user, without clients.
    pub(crate) fn new(table: CopyTable, tasks: TaskRunner, (owner, log): (u32, DaemonLog)) -> Self {
        Self {
            table: Arc::new(table),
            tasks,
            log,
            owner,
            started_at: Instant::now(),
            draining: watch::Sender::new(false),
            stopping: watch::Sender::new(false),
            clients: AtomicUsize::new(0),
            client_changes: watch::Sender::new(Instant::now()),
        }
    }

    /// Takes no new clients; the daemon ends with its last one.
    pub(crate) fn begin_drain(&self) {
        self.draining.send_replace(true);
    }

    /// Whether the daemon takes no new clients.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Ends the daemon.
    pub(crate) fn begin_stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until the daemon has to end.
    pub(crate) async fn wait_until_stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives as long as the daemon.
        drop(stopping.wait_for(|is_stopping| *is_stopping).await);
    }

    /// Counts a client until the returned value is dropped.
    pub(crate) fn count_client(self: &Arc<Self>) -> CountedClient {
        self.clients.fetch_add(1, Ordering::Relaxed);
        self.client_changes.send_replace(Instant::now());
        CountedClient(Arc::clone(self))
    }

    /// Waits until there was no client for this time, or no client any more while draining.
    pub(crate) async fn wait_until_idle(&self, idle: Duration) {
        let mut changes = self.client_changes.subscribe();
        let mut draining = self.draining.subscribe();
        loop {
            let since = *changes.borrow_and_update();
            let is_draining = *draining.borrow_and_update();
            let quiet = async {
                match (self.clients.load(Ordering::Relaxed), is_draining) {
                    (0, true) => {}
                    (0, false) => tokio::time::sleep_until(since + idle).await,
                    (_, _) => std::future::pending().await,
                }
            };
            tokio::select! {
                () = quiet => return,
                // The senders live as long as the daemon.
                _ = changes.changed() => {}
                _ = draining.changed() => {}
            }
        }
    }
}

impl Drop for CountedClient {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
        self.0.client_changes.send_replace(Instant::now());
    }
}
