//! The daemon: accepts clients on its socket, and ends when it is idle or told to.
//!
//! Lock files, not the socket, make sure that a user has one daemon: one in the state folder, which all login sessions
//! share like the journal of durable calls, and one beside the socket. Only the holder of both replaces the socket, so
//! a socket that a killed daemon left behind does no harm.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcparley::model::expand::Env;
use mcparley::pool::share::traits::TraitStore;
use mcparley::pool::start_gate::StartGate;
use mcparley_model::limits::{DAEMON_CONNECTIONS, DAEMON_IDLE_TIME};
use mcparley_platform::file::{
    FileLock, FileWriteError, LockFile, PrivateFolder, PrivateFolderError, store_cache_file,
};
use mcparley_platform::socket::{SocketAddress, SocketFile};
use tokio::net::UnixListener;
use tokio::task::JoinSet;

use crate::connection::{refuse_at_limit, serve_connection};
use crate::copy_table::CopyTable;
use crate::daemon_log::DaemonLog;
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
    connection_limit: usize,
    _locks: Vec<FileLock>,
}

impl Daemon {
    /// Takes the locks and opens the socket. Must be called inside a `tokio` runtime.
    ///
    /// # Errors
    /// [`DaemonError::Running`] if the user has a daemon already.
    pub fn open(paths: &DaemonPaths) -> Result<Self, DaemonError> {
        PrivateFolder::open(&paths.folder)?;
        let lock = |path| LockFile::new(path).try_acquire()?.ok_or(DaemonError::Running);
        let locks = paths.locks().into_iter().map(lock).collect::<Result<_, _>>()?;
        let empty = paths.folder.join("empty");
        PrivateFolder::open(&empty)?;
        let (listener, socket, owner) = bind_socket(&paths.folder)?;
        if let Some(text) = socket.path().to_str() {
            // Without the record, clients of other login sessions start their servers themselves.
            let _full = store_cache_file(&paths.record(), text);
        }
        let gate = StartGate::from_env(&Env::default());
        let traits = TraitStore::new(paths.traits.parent());
        // With the locks held: no other daemon runs the calls that the journal has as running.
        let tasks = TaskRunner::open(&paths.tasks);
        let log = DaemonLog::new(&paths.log);
        let table = CopyTable::new((traits, gate), empty, log.clone());
        let shared = DaemonShared::new(table, tasks, (owner, log));
        Ok(Self {
            shared: Arc::new(shared),
            listener,
            idle_time: DAEMON_IDLE_TIME,
            _socket: socket,
            connection_limit: DAEMON_CONNECTIONS,
            _locks: locks,
        })
    }

    /// This daemon with another time after which it ends without clients.
    #[must_use]
    pub fn with_idle_time(self, idle_time: Duration) -> Self {
        Self { idle_time, ..self }
    }

    /// This daemon with another number of connections that it takes.
    #[must_use]
    pub fn with_connection_limit(self, connection_limit: usize) -> Self {
        Self { connection_limit, ..self }
    }

    /// Serves clients until `stop` resolves, a client asks the daemon to end, or it has been idle. All servers
    /// have ended when this returns.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        tokio::select! {
            () = self.accept_clients(&mut connections) => {}
            () = stop => {}
            () = self.shared.wait_until_idle(self.idle_time) => {}
            () = self.shared.wait_until_stopped() => {}
        }
        self.shared.begin_drain();
        self.shared.tasks.shut_down().await;
        self.shared.table.shut_down().await;
        connections.shutdown().await;
    }

    /// Accepts clients for ever, each in a task of its own.
    async fn accept_clients(&self, connections: &mut JoinSet<()>) {
        let mut was_full = false;
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            while connections.try_join_next().is_some() {}
            let is_full = connections.len() >= self.connection_limit;
            if is_full {
                // The client starts its server itself.
                refuse_at_limit(&stream);
            }
            if is_full && !was_full {
                self.shared
                    .log
                    .record_event(format!("refused a client: {} are connected", connections.len()))
                    .await;
            }
            was_full = is_full;
            if !is_full {
                let shared = Arc::clone(&self.shared);
                connections.spawn(async move { serve_connection(&shared, stream).await });
            }
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
