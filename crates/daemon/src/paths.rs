//! The socket, the lock and the log of the daemon.

use std::path::{Path, PathBuf};

use mcparley_platform::dirs::Directories;

/// The paths of the daemon of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonPaths {
    /// The folder of socket and lock, which only the user can enter.
    pub folder: PathBuf,
    /// The file of the facts that were learned about servers.
    pub traits: PathBuf,
    /// The log of the daemon.
    pub log: PathBuf,
    /// The file that exists while the daemon is enabled.
    pub enabled: PathBuf,
    /// The folder of the journal of durable calls.
    pub tasks: PathBuf,
}

impl DaemonPaths {
    /// The paths of a user with these directories. Without a login session the socket is in the state folder:
    /// a folder for temporary files may be cleaned up while the daemon runs.
    #[must_use]
    pub fn new(directories: &Directories) -> Self {
        let state = directories.state.join("daemon");
        Self {
            folder: directories.runtime.clone().unwrap_or_else(|| state.join("run")),
            traits: directories.cache.join("traits.json"),
            log: state.join("daemon.log"),
            enabled: state.join("enabled"),
            tasks: state.join("tasks"),
        }
    }

    /// The socket that clients connect to.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("daemon.sock")
    }

    /// The lock that a running daemon holds.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.folder.join("daemon.lock")
    }

    /// Whether the user has enabled the daemon.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        is_file(&self.enabled)
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}
