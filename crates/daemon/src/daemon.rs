//! The daemon: accepts clients on its socket, and ends when it is idle or told to.
//!
//! The lock file, not the socket, makes sure that a user has one daemon: only the holder of the lock replaces
//! the socket, so a socket that a killed daemon left behind does no harm.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcparley::model::expand::Env;
use mcparley::pool::share::traits::TraitStore;
use mcparley::pool::start_gate::StartGate;
use mcparley_model::limits::{DAEMON_CONNECTIONS, DAEMON_IDLE_TIME};
use mcparley_platform::file::{FileLock, FileWriteError, LockFile, PrivateFolder, PrivateFolderError};
use mcparley_platform::socket::{SocketAddress, SocketFile};
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::connection::serve_connection;
use crate::copy_table::CopyTable;
use crate::paths::DaemonPaths;
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

/// The state that all connections share.
#[derive(Debug)]
pub(crate) struct DaemonShared {
    pub(crate) table: Arc<CopyTable>,
    /// The durable calls.
    pub(crate) tasks: TaskRunner,
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
        let shared = DaemonShared {
            table: Arc::new(CopyTable::new(traits, gate, empty)),
            // With the lock held: no other daemon runs the calls that the journal has as running.
            tasks: TaskRunner::open(&paths.tasks),
            owner,
            started_at: Instant::now(),
            draining: watch::Sender::new(false),
            stopping: watch::Sender::new(false),
            clients: AtomicUsize::new(0),
            client_changes: watch::Sender::new(Instant::now()),
        };
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
        let mut stopping = self.shared.stopping.subscribe();
        let accepting = async {
            loop {
                match self.listener.accept().await {
                    Ok((stream, _)) => {
                        while connections.try_join_next().is_some() {}
                        // Dropping the stream makes the client start its server itself.
                        if connections.len() < DAEMON_CONNECTIONS {
                            let shared = Arc::clone(&self.shared);
                            connections.spawn(async move { serve_connection(&shared, stream).await });
                        }
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            () = stop => {}
            () = self.shared.wait_until_idle(self.idle_time) => {}
            // The sender lives as long as the daemon.
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
        }
        self.shared.begin_drain();
        self.shared.tasks.shut_down().await;
        self.shared.table.shut_down().await;
        connections.shutdown().await;
    }
}

impl DaemonShared {
    /// Takes no new clients; the daemon ends with its last one.
    pub(crate) fn begin_drain(&self) {
        self.draining.send_replace(true);
    }

    /// Whether the daemon takes no new clients.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Ends the daemon.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Counts a client until the returned value is dropped.
    pub(crate) fn count_client(self: &Arc<Self>) -> CountedClient {
        self.clients.fetch_add(1, Ordering::Relaxed);
        self.client_changes.send_replace(Instant::now());
        CountedClient(Arc::clone(self))
    }

    /// Waits until there was no client for this time, or no client any more while draining.
    async fn wait_until_idle(&self, idle: Duration) {
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
