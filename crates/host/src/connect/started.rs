//! The process of a local server that is being reached, for whoever watches over its start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::text::Untrusted;
use mcparley_wire::transport::stdio::{Stderr, Stdio};
use tokio::sync::watch;

/// The process started last on the way to a server, if any. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartedProcess {
    started: Arc<Mutex<Option<Started>>>,
    /// The name of the package runner, while it downloads the server.
    downloader: Arc<watch::Sender<Option<Arc<str>>>>,
}

#[derive(Debug)]
struct Started {
    id: u32,
    stderr: Stderr,
}

impl StartedProcess {
    /// From now on it is this one.
    pub(super) fn set(&self, server: &Stdio) {
        *self.locked() = Some(Started { id: server.pid(), stderr: server.stderr() });
    }

    /// Its process id.
    pub(crate) fn id(&self) -> Option<u32> {
        self.locked().as_ref().map(|started| started.id)
    }

    /// The record of its standard error.
    pub(crate) fn stderr_record(&self) -> Option<Stderr> {
        self.locked().as_ref().map(|started| started.stderr.clone())
    }

    /// The end of what it wrote to its standard error.
    pub(crate) fn stderr(&self) -> Untrusted {
        self.stderr_record().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }

    /// From now on this package runner downloads the server, or none does.
    pub(super) fn set_downloader(&self, runner: Option<&str>) {
        self.downloader.send_if_modified(|current| {
            let is_other = current.as_deref() != runner;
            if is_other {
                *current = runner.map(Arc::from);
            }
            is_other
        });
    }

    /// The package runner that downloads the server, as it changes.
    pub(crate) fn downloader(&self) -> Downloader {
        Downloader(self.downloader.subscribe())
    }

    fn locked(&self) -> MutexGuard<'_, Option<Started>> {
        // It is replaced in one step, so a panic leaves nothing half done.
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows which package runner downloads a server that is being reached.
#[derive(Clone, Debug)]
pub(crate) struct Downloader(watch::Receiver<Option<Arc<str>>>);

impl Downloader {
    /// Waits until another runner downloads, or none does any more; for ever once the server is no longer being reached.
    /// Giving up the waiting loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Arc<str>> {
        match self.0.changed().await {
            Ok(()) => self.0.borrow_and_update().clone(),
            Err(_) => std::future::pending().await,
        }
    }
}
