//! Unix sockets in folders that only their user can enter, also where their path is longer than an address.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::{Path, PathBuf};

/// The length of a path that every system accepts as the address of a socket.
const ADDRESS_BYTES: usize = 100;

/// The address of a socket in a folder. A long path is replaced by one through the opened folder.
#[derive(Debug)]
pub struct SocketAddress {
    /// The path to bind or to connect to.
    pub path: PathBuf,
    /// The opened folder, which must stay open while the address is used.
    _folder: Option<File>,
}

impl SocketAddress {
    /// The address of the socket of this name in a folder.
    ///
    /// # Errors
    /// When the folder of a long path cannot be opened.
    pub fn new(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= ADDRESS_BYTES {
            return Ok(Self { path, _folder: None });
        }
        let opened = File::open(folder)?;
        let path = Path::new("/proc/self/fd").join(opened.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(opened) })
    }
}

/// Whether the process at the other end of a Unix socket runs as our user.
pub fn is_own_peer(stream: &impl AsFd) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// The file of a bound socket, removed when this value is dropped.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl SocketFile {
    /// The file of a socket that was bound at this path.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Moves the file to another path, in place of an earlier one.
    ///
    /// # Errors
    /// When the file cannot be moved; it is removed then.
    #[expect(clippy::disallowed_methods, reason = "a socket has no content that could be torn")]
    pub fn rename_to(self, path: PathBuf) -> io::Result<Self> {
        std::fs::rename(&self.0, &path)?;
        Ok(Self(path))
    }
}

impl Drop for SocketFile {
    #[expect(clippy::disallowed_methods, reason = "a socket has no content that could be torn")]
    fn drop(&mut self) {
        // The next reader removes a socket that stays.
        let _gone = std::fs::remove_file(&self.0);
    }
}
