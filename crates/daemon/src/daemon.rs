//! The daemon: accepts clients on its socket, and ends when it is idle or told to.
//!
//! The lock file, not the socket, makes sure that a user has one daemon: only the holder of the lock replaces
//! the socket, so a socket that a killed daemon left behind does no harm.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcparley::model::expand::Env;
use mcparley::pool::share::traits::TraitStore;
use mcparley::pool::start_gate::StartGate;
use mcparley_model::limits::{DAEMON_CONNECTIONS, DAEMON_IDLE_TIME};
use mcparley_platform::file::{FileLock, FileWriteError, LockFile, PrivateFolder, PrivateFolderError};
use mcparley_platform::socket::{SocketAddress, SocketFile};
use tokio::net::UnixListener;
use tokio::task::JoinSet;

use crate::connection::serve_connection;
use crate::copy_table::CopyTable;
use crate::paths::DaemonPaths;
use crate::shared_state::DaemonShared;
use crate::task_runner::TaskRunner;

/// The pause after an error of the listener, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The reason why the daemon cannot run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another daemon of this user is running.
    #[error("another daemon is running")]
    Running,
    /// The folder of the socket cannot be used.
    #[error("the folder of the daemon cannot be used: {0}")]
    Folder(#[from] PrivateFolderError),
    /// The lock cannot be taken.
    #[error("the lock of the daemon cannot be taken: {0}")]
    Lock(#[from] FileWriteError),
    /// The socket cannot be opened.
    #[error("the socket of the daemon cannot be opened: {0}")]
    Socket(#[from] io::Error),
}

/// A daemon that listens, and does not accept clients yet.
#[derive(Debug)]
pub struct Daemon {
    shared: Arc<DaemonShared>,
    listener: UnixListener,
    idle_time: Duration,
    _socket: SocketFile,
    _lock: FileLock,
}

impl Daemon {
    /// Takes the lock and opens the socket. Must be called inside a `tokio` runtime.
    ///
    /// # Errors
    /// [`DaemonError::Running`] if the user has a daemon already.
    pub fn open(paths: &DaemonPaths) -> Result<Self, DaemonError> {
        PrivateFolder::open(&paths.folder)?;
        let lock = LockFile::new(paths.lock()).try_acquire()?.ok_or(DaemonError::Running)?;
        let empty = paths.folder.join("empty");
        PrivateFolder::open(&empty)?;
        let (listener, socket, owner) = bind_socket(&paths.folder)?;
        let gate = StartGate::from_env(&Env::default());
        let traits = TraitStore::new(paths.traits.parent());
        // With the lock held: no other daemon runs the calls that the journal has as running.
        let tasks = TaskRunner::open(&paths.tasks);
        let shared = DaemonShared::new(CopyTable::new(traits, gate, empty), tasks, owner);
        Ok(Self {
            shared: Arc::new(shared),
            listener,
            idle_time: DAEMON_IDLE_TIME,
            _socket: socket,
            _lock: lock,
        })
    }

    /// This daemon with another time after which it ends without clients.
    #[must_use]
    pub fn with_idle_time(self, idle_time: Duration) -> Self {
        Self { idle_time, ..self }
    }

    /// Serves clients until `stop` resolves, a client asks the daemon to end, or it has been idle. All servers
    /// have ended when this returns.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        tokio::select! {
            () = accept_clients(&self.listener, &self.shared, &mut connections) => {}
            () = stop => {}
            () = self.shared.wait_until_idle(self.idle_time) => {}
            () = self.shared.wait_until_stopped() => {}
        }
        self.shared.begin_drain();
        self.shared.tasks.shut_down().await;
        self.shared.table.shut_down().await;
        connections.shutdown().await;
    }
}

/// Accepts clients for ever, each in a task of its own.
async fn accept_clients(listener: &UnixListener, shared: &Arc<DaemonShared>, connections: &mut JoinSet<()>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        // Dropping the stream makes the client start its server itself.
        if connections.len() < DAEMON_CONNECTIONS {
            let shared = Arc::clone(shared);
            connections.spawn(async move { serve_connection(&shared, stream).await });
        }
    }
}

/// Binds the socket under another name and moves it into place: clients never see one without a listener.
fn bind_socket(folder: &Path) -> io::Result<(UnixListener, SocketFile, u32)> {
    let begun = SocketFile::new(folder.join("daemon.new"));
    let address = SocketAddress::new(folder, "daemon.new")?;
    // A daemon that was killed between the two steps left it behind. The lock is held, so no other needs it.
    drop(SocketFile::new(begun.path().to_owned()));
    let listener = std::os::unix::net::UnixListener::bind(&address.path)?;
    listener.set_nonblocking(true)?;
    std::fs::set_permissions(begun.path(), std::fs::Permissions::from_mode(0o600))?;
    let owner = std::fs::symlink_metadata(begun.path())?.uid();
    let socket = begun.rename_to(folder.join("daemon.sock"))?;
    Ok((UnixListener::from_std(listener)?, socket, owner))
}
