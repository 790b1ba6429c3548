//! Follows the log files of servers: waits for lines that other processes append, and reads them.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcparley_config::Paths;
use mcparley_model::name::ServerName;
use mcparley_platform::folder_watch::FolderWatch;
use tokio::sync::Notify;

use super::{LogReader, StoredLog};

/// The time between two looks at the files where the operating system reports no changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Follower of the logs of some servers.
pub struct LogFollower {
    readers: Vec<LogReader>,
    changed: Arc<Notify>,
    /// The watcher of the operating system; without one the files are polled.
    watcher: Option<FolderWatch>,
}

impl LogFollower {
    /// A follower of the logs of these servers in this project, at the beginning of each.
    #[must_use]
    pub fn new(paths: &Paths, servers: impl IntoIterator<Item = ServerName>) -> Self {
        let readers = servers.into_iter().map(|server| LogReader::new(paths, server)).collect();
        let changed = Arc::new(Notify::new());
        let watcher =
            paths.logs.as_deref().and_then(|folder| watch_folder(folder, Arc::clone(&changed)).ok());
        Self { readers, changed, watcher }
    }

    /// Reads the lines of each server that are new since the last call; the first call reads all lines.
    ///
    /// # Errors
    /// If a log exists and cannot be read.
    pub fn read_new_lines(&mut self) -> io::Result<Vec<StoredLog>> {
        self.readers.iter_mut().map(LogReader::read_new_lines).collect()
    }

    /// Waits until a log may have new lines.
    pub async fn wait_for_change(&self) {
        match &self.watcher {
            Some(_) => self.changed.notified().await,
            None => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

impl std::fmt::Debug for LogFollower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogFollower").field("readers", &self.readers).finish_non_exhaustive()
    }
}

/// Watches the log folder, which is created if it does not exist yet.
fn watch_folder(folder: &Path, changed: Arc<Notify>) -> io::Result<FolderWatch> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let watcher = FolderWatch::start(move |_path| changed.notify_one())?;
    watcher.watch(folder)?;
    Ok(watcher)
}
