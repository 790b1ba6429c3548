//! Finds the socket of the running daemon, and connects to it.
//!
//! The socket is in the folder of the login session. A daemon that was started in another session listens in the
//! folder of that one, and has recorded its socket in the state folder, which all sessions of a user share.

use std::io;
use std::path::{Path, PathBuf};

use mcparley_model::limits::DAEMON_RECORD_BYTES;
use mcparley_platform::file::{FileLock, FileReadError, LockFile, check_private_folder, read_cache_file};
use mcparley_platform::socket::{SocketAddress, is_own_peer};

/// The places at which the daemon of a user may listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSocket {
    path: PathBuf,
    record: Option<PathBuf>,
}

/// Held by a client while it starts the daemon, so that of many clients only one does.
#[derive(Debug)]
pub(super) struct StartLock(#[expect(dead_code, reason = "released when it is dropped")] Option<FileLock>);

/// The reason why there is no connection to the daemon.
#[derive(Debug, thiserror::Error)]
pub enum DaemonSocketError {
    /// Other users could have placed the socket.
    #[error(transparent)]
    Folder(#[from] FileReadError),
    /// The socket cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another user listens on the socket.
    #[error("a process of another user listens on its socket")]
    Foreign,
}

impl DaemonSocketError {
    /// Whether no daemon listens on the socket.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        let absent = [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused];
        matches!(self, Self::Io(error) if absent.contains(&error.kind()))
    }
}

impl DaemonSocket {
    /// The socket at this path; a daemon listens there and nowhere else.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), record: None }
    }

    /// This socket, or the one that a daemon of another session has recorded in this file.
    #[must_use]
    pub fn with_record(self, record: &Path) -> Self {
        Self { record: Some(record.to_owned()), ..self }
    }

    /// The lock of the client that starts the daemon; `None` while another client does.
    pub(super) fn lock_start(&self) -> Option<StartLock> {
        let Some(record) = &self.record else { return Some(StartLock(None)) };
        match LockFile::new(record.with_file_name("start.lock")).try_acquire() {
            Ok(None) => None,
            Ok(lock) => Some(StartLock(lock)),
            // Without the lock several clients start a daemon, and all but one of these end at once.
            Err(_) => Some(StartLock(None)),
        }
    }

    /// Connects without blocking.
    ///
    /// # Errors
    /// A [`DaemonSocketError`].
    pub async fn open_stream(&self) -> Result<tokio::net::UnixStream, DaemonSocketError> {
        let error = match connect_async(&self.path).await {
            Err(error) if error.is_absent() => error,
            done => return done,
        };
        match self.recorded_path() {
            Some(other) => connect_async(&other).await.map_err(|_| error),
            None => Err(error),
        }
    }

    /// Connects, and returns the path of the socket too. Blocks while the daemon hangs.
    ///
    /// # Errors
    /// A [`DaemonSocketError`].
    pub fn connect_blocking(&self) -> Result<(std::os::unix::net::UnixStream, PathBuf), DaemonSocketError> {
        let error = match connect_now(&self.path) {
            Ok(stream) => return Ok((stream, self.path.clone())),
            Err(error) if error.is_absent() => error,
            Err(error) => return Err(error),
        };
        let Some(other) = self.recorded_path() else { return Err(error) };
        connect_now(&other).map(|stream| (stream, other)).map_err(|_| error)
    }

    /// The socket of a daemon of another session.
    fn recorded_path(&self) -> Option<PathBuf> {
        let record = read_cache_file(self.record.as_deref()?, DAEMON_RECORD_BYTES)?;
        let path = PathBuf::from(record.text.trim_end());
        (path.is_absolute() && path != self.path).then_some(path)
    }
}

async fn connect_async(path: &Path) -> Result<tokio::net::UnixStream, DaemonSocketError> {
    let address = address_of(path)?;
    let stream = tokio::net::UnixStream::connect(&address.path).await?;
    if is_own_peer(&stream) { Ok(stream) } else { Err(DaemonSocketError::Foreign) }
}

fn connect_now(path: &Path) -> Result<std::os::unix::net::UnixStream, DaemonSocketError> {
    let address = address_of(path)?;
    let stream = std::os::unix::net::UnixStream::connect(&address.path)?;
    if is_own_peer(&stream) { Ok(stream) } else { Err(DaemonSocketError::Foreign) }
}

/// The address of the socket at this path, in a folder that only the user can write to.
fn address_of(path: &Path) -> Result<SocketAddress, DaemonSocketError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    };
    check_private_folder(folder)?;
    Ok(SocketAddress::new(folder, name)?)
}
