//! Listens on TCP and Unix sockets, and serves the connections, bounded in number and in time.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcparley_model::limits::{
    DOOR_CONNECTIONS, DOOR_HEADER_BYTES, DOOR_HEADER_TIME, DOOR_HEADERS, DOOR_STALL_TIME,
};
use mcparley_platform::file::PrivateFolder;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};

use crate::doors::DoorOptions;
use crate::endpoint::MAIN_PATH;
use crate::guard::PeerAddress;
use crate::http;
use crate::shared::DoorShared;

/// The pause after an error of the listener, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The buffer of a connection; larger than the limit of the header, which is checked by itself.
const BUFFER_BYTES: usize = 4 * DOOR_HEADER_BYTES;
/// The response to a header that is not complete in time.
const HEADER_TIMEOUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A bound listener.
#[derive(Debug)]
pub struct DoorListener(ListenerKind);

#[derive(Debug)]
enum ListenerKind {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, PathBuf, u32),
}

/// The reason why a listener cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The address is reachable from other machines, and that was not allowed.
    #[error("`{0}` can be reached from other machines")]
    OpenAddress(SocketAddr),
    /// The address cannot be used.
    #[error("cannot listen on `{address}`: {error}")]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        error: io::Error,
    },
    /// The Unix socket cannot be used.
    #[error("cannot listen on `{}`: {error}", path.display())]
    Unix {
        /// The path of the socket.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The folder of the Unix socket can be changed by other users.
    #[error("the folder of `{}` is not private", .0.display())]
    OpenFolder(PathBuf),
}

impl DoorListener {
    /// Listens on a TCP address; one that other machines can reach has to be allowed.
    ///
    /// # Errors
    /// A [`DoorError`].
    pub async fn bind_tcp(address: SocketAddr, is_open_allowed: bool) -> Result<Self, DoorError> {
        if !address.ip().is_loopback() && !is_open_allowed {
            return Err(DoorError::OpenAddress(address));
        }
        let failed = |error| DoorError::Tcp { address, error };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        Ok(Self(ListenerKind::Tcp(listener, bound)))
    }

    /// Listens on a Unix socket that only this user can use. Its folder is created if it is missing, and a socket that
    /// no process uses is replaced.
    ///
    /// # Errors
    /// A [`DoorError`].
    pub async fn bind_unix(path: &Path) -> Result<Self, DoorError> {
        let failed = |error| DoorError::Unix { path: path.to_owned(), error };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_missing =
            matches!(std::fs::metadata(folder), Err(error) if error.kind() == io::ErrorKind::NotFound);
        if is_missing {
            PrivateFolder::open(folder).map_err(|error| failed(io::Error::other(error)))?;
        }
        let about = std::fs::metadata(folder).map_err(failed)?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(DoorError::OpenFolder(path.to_owned()));
        }
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
        if is_socket && tokio::net::UnixStream::connect(path).await.is_err() {
            remove_socket(path);
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let owner = std::fs::symlink_metadata(path).map_err(failed)?.uid();
        Ok(Self(ListenerKind::Unix(listener, path.to_owned(), owner)))
    }

    /// The TCP address, with the real port.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            ListenerKind::Tcp(_, address) => Some(*address),
            ListenerKind::Unix(..) => None,
        }
    }

    /// The path of the Unix socket.
    #[must_use]
    pub fn socket_path(&self) -> Option<PathBuf> {
        match &self.0 {
            ListenerKind::Tcp(..) => None,
            ListenerKind::Unix(_, path, _) => Some(path.clone()),
        }
    }

    /// Where clients connect: the URL of each endpoint, or the path of the Unix socket.
    #[must_use]
    pub fn describe_endpoints(&self, options: &DoorOptions) -> Vec<String> {
        let address = match &self.0 {
            ListenerKind::Tcp(_, address) => address,
            ListenerKind::Unix(_, path, _) => return vec![path.display().to_string()],
        };
        let main = format!("http://{address}{MAIN_PATH}");
        let views = options.views.iter().map(|view| view.describe_below(&main));
        let legacy = options.has_sse.then(|| format!("http://{address}/sse (HTTP+SSE)"));
        std::iter::once(main.clone()).chain(views).chain(legacy).collect()
    }

    /// Accepts connections. Never returns.
    pub(crate) async fn accept_connections(self, shared: Arc<DoorShared>) {
        let room = Arc::new(Semaphore::new(DOOR_CONNECTIONS));
        loop {
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            match self.accept().await {
                Ok(Accepted::Tcp(stream, address)) => {
                    let (tasks, shared) = (Arc::clone(&shared.tasks), Arc::clone(&shared));
                    tasks.spawn_task(async move {
                        // Small responses are sent at once.
                        let _delayed = stream.set_nodelay(true);
                        serve_connection(&shared, stream, PeerAddress::Tcp(address)).await;
                        drop(place);
                    });
                }
                Ok(Accepted::Unix(stream, uid)) => {
                    let (tasks, shared) = (Arc::clone(&shared.tasks), Arc::clone(&shared));
                    tasks.spawn_task(async move {
                        serve_connection(&shared, stream, PeerAddress::Unix(uid)).await;
                        drop(place);
                    });
                }
                Ok(Accepted::Foreign) => {}
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    async fn accept(&self) -> io::Result<Accepted> {
        match &self.0 {
            ListenerKind::Tcp(listener, _) => {
                let (stream, address) = listener.accept().await?;
                Ok(Accepted::Tcp(stream, address.ip()))
            }
            ListenerKind::Unix(listener, _, owner) => {
                let (stream, _) = listener.accept().await?;
                let uid = stream.peer_cred()?.uid();
                Ok(if uid == *owner { Accepted::Unix(stream, uid) } else { Accepted::Foreign })
            }
        }
    }
}

enum Accepted {
    Tcp(tokio::net::TcpStream, IpAddr),
    Unix(tokio::net::UnixStream, u32),
    /// A process of another user.
    Foreign,
}

/// Removes the file of a Unix socket.
#[expect(clippy::disallowed_methods, reason = "a socket has no content that could be torn")]
pub(crate) fn remove_socket(path: &Path) {
    let _gone = std::fs::remove_file(path);
}

async fn serve_connection<S>(shared: &Arc<DoorShared>, stream: S, peer: PeerAddress)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service =
        service_fn(
            |request| async move { Ok::<_, Infallible>(http::answer_http(shared, peer, request).await) },
        );
    let mut builder = Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(DOOR_HEADER_TIME)
        .max_headers(DOOR_HEADERS)
        .max_buf_size(BUFFER_BYTES);
    let io = TokioIo::new(StallLimit { stream, stall: None });
    let mut connection = builder.serve_connection(io, service);
    // Another error means that the connection is lost; its requests are canceled then.
    if Pin::new(&mut connection).await.is_err_and(|error| error.is_timeout()) {
        let parts = connection.into_parts();
        // A connection on which no request has begun is closed without a word.
        if !parts.read_buf.is_empty() {
            let _lost = parts.io.into_inner().write_all(HEADER_TIMEOUT).await;
        }
    }
}

/// A stream that fails when the other side does not read for too long.
struct StallLimit<S> {
    stream: S,
    stall: Option<Pin<Box<Sleep>>>,
}

impl<S> StallLimit<S> {
    fn check<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let deadline = || Box::pin(tokio::time::sleep_until(Instant::now() + DOOR_STALL_TIME));
        let stall = self.stall.get_or_insert_with(deadline);
        stall.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallLimit<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallLimit<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.check(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, parts);
        this.check(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
