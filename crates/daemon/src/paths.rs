//! The socket, the locks and the log of the daemon.

use std::path::{Path, PathBuf};

use mcparley::pool::attach::DaemonSocket;
use mcparley_platform::dirs::Directories;

/// The paths of the daemon of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonPaths {
    /// The folder of the socket, which only the user can enter.
    pub folder: PathBuf,
    /// The folder of the lock, which all login sessions of the user share.
    pub state: PathBuf,
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
            state,
        }
    }

    /// The socket that a daemon of this session listens on.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("daemon.sock")
    }

    /// The socket that clients connect to: that of this session, or the one of the running daemon.
    #[must_use]
    pub fn daemon_socket(&self) -> DaemonSocket {
        DaemonSocket::new(&self.socket()).with_record(&self.record())
    }

    /// The file that names the socket of the running daemon, for clients of other login sessions.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.state.join("socket")
    }

    /// The locks that a running daemon holds, in the order in which it takes them: for its servers and durable calls,
    /// which a user has once, and for its socket.
    #[must_use]
    pub fn locks(&self) -> [PathBuf; 2] {
        [self.state.join("daemon.lock"), self.folder.join("daemon.lock")]
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
