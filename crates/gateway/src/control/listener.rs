//! Listens on the control socket of a gateway.

use std::convert::Infallible;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{CONTROL_CONNECTIONS, CONTROL_TIME};
use mcparley_platform::file::PrivateFolder;
use mcparley_platform::socket::{SocketAddress, SocketFile};
use mcparley_wire::transport::served::serve_client;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::service::ControlService;
use super::{ControlError, SUFFIX};
use crate::gateway::Gateway;

/// The pause after an error of the listener, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A bound control socket. Its file is removed when this value is dropped.
#[derive(Debug)]
struct ControlSocket {
    listener: std::os::unix::net::UnixListener,
    file: SocketFile,
    owner: u32,
}

/// Serves the control socket of a gateway in this folder. Never returns unless the socket cannot be opened; to
/// be dropped with the gateway, which removes the socket.
///
/// The socket is bound in a thread of its own, so that clients do not wait for it.
///
/// # Errors
/// When the folder is not private, or the socket cannot be bound.
pub async fn serve_control(gateway: &Gateway, folder: PathBuf) -> Result<Infallible, ControlError> {
    let name = format!("{}-{}", std::process::id(), gateway.pending.gateway_name());
    let binding = tokio::task::spawn_blocking(move || ControlSocket::bind_in(&folder, &name));
    let ControlSocket { listener, file: _file, owner } =
        binding.await.map_err(|error| ControlError::Io(io::Error::other(error)))??;
    let listener = UnixListener::from_std(listener)?;
    let service = Arc::new(ControlService::new(gateway));
    let room = Arc::new(Semaphore::new(CONTROL_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { continue };
        match listener.accept().await {
            Ok((stream, _)) => {
                while connections.try_join_next().is_some() {}
                let service = Arc::clone(&service);
                connections.spawn(async move {
                    serve_connection(stream, owner, service).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Serves one connection, which has to be of the same user, and for a limited time.
async fn serve_connection(stream: UnixStream, owner: u32, service: Arc<ControlService>) {
    if stream.peer_cred().is_ok_and(|peer| peer.uid() == owner) {
        let (input, output) = stream.into_split();
        let _late = tokio::time::timeout(CONTROL_TIME, serve_client(input, output, service)).await;
    }
}

impl ControlSocket {
    fn bind_in(folder: &Path, name: &str) -> Result<Self, ControlError> {
        PrivateFolder::open(folder).map_err(ControlError::Folder)?;
        // Bound under another name: a reader that finds a socket without a listener removes it.
        let (begun, name) = (format!("{name}.new"), format!("{name}{SUFFIX}"));
        let address = SocketAddress::new(folder, &begun)?;
        let listener = std::os::unix::net::UnixListener::bind(&address.path)?;
        listener.set_nonblocking(true)?;
        let begun = SocketFile::new(folder.join(begun));
        std::fs::set_permissions(begun.path(), std::fs::Permissions::from_mode(0o600))?;
        let owner = std::fs::symlink_metadata(begun.path())?.uid();
        let file = begun.rename_to(folder.join(name))?;
        Ok(Self { listener, file, owner })
    }
}
