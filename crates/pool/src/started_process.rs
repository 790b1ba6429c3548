//! The process of a local server while it starts, shared with the tasks that watch the start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::text::Untrusted;
use mcparley_wire::transport::stdio::Stderr;
use tokio::sync::watch;

/// The process started last for a server, if any. Cheap to clone; clones share it.
#[derive(Clone, Debug, Default)]
pub struct StartedProcess {
    started: Arc<Mutex<Option<ProcessRecord>>>,
    /// The name of the package runner while it downloads the server.
    downloader: Arc<watch::Sender<Option<Arc<str>>>>,
    /// The number of processes started so far.
    starts: Arc<watch::Sender<u64>>,
}

#[derive(Debug)]
struct ProcessRecord {
    id: u32,
    stderr: Stderr,
}

impl StartedProcess {
    /// Records a newly started process.
    pub(super) fn set_process(&self, id: u32, stderr: Stderr) {
        *self.lock_process() = Some(ProcessRecord { id, stderr });
        self.starts.send_modify(|count| *count += 1);
    }

    /// A receiver that changes with every started process.
    #[must_use]
    pub fn follow_starts(&self) -> watch::Receiver<u64> {
        self.starts.subscribe()
    }

    /// The process id.
    pub fn id(&self) -> Option<u32> {
        self.lock_process().as_ref().map(|started| started.id)
    }

    /// The record of the process's standard error.
    pub fn stderr_record(&self) -> Option<Stderr> {
        self.lock_process().as_ref().map(|started| started.stderr.clone())
    }

    /// The end of the process's standard error.
    pub fn stderr(&self) -> Untrusted {
        self.stderr_record().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }

    /// Sets the package runner that downloads the server, or `None` when the download has ended.
    pub(super) fn set_downloader(&self, runner: Option<&str>) {
        self.downloader.send_if_modified(|current| {
            let is_other = current.as_deref() != runner;
            if is_other {
                *current = runner.map(Arc::from);
            }
            is_other
        });
    }

    /// Follows the package runner that downloads the server.
    pub fn follow_downloader(&self) -> DownloadWatcher {
        DownloadWatcher(self.downloader.subscribe())
    }

    fn lock_process(&self) -> MutexGuard<'_, Option<ProcessRecord>> {
        // The value is replaced in a single step, so a panic leaves it consistent.
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the package runner that downloads a server.
#[derive(Clone, Debug)]
pub struct DownloadWatcher(watch::Receiver<Option<Arc<str>>>);

impl DownloadWatcher {
    /// Waits until the runner changes, or the download ends. Never returns once the start is over. Cancel
    /// safe.
    pub async fn next(&mut self) -> Option<Arc<str>> {
        match self.0.changed().await {
            Ok(()) => self.0.borrow_and_update().clone(),
            Err(_) => std::future::pending().await,
        }
    }
}
