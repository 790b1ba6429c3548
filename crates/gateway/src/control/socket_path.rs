//! Addresses of sockets whose path is longer than the system allows.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// The length of a path that every system accepts as the address of a socket.
const ADDRESS_BYTES: usize = 100;

/// The address of a socket in a folder. A long path is replaced by one through the opened folder.
#[derive(Debug)]
pub(super) struct SocketAddress {
    pub(super) path: PathBuf,
    /// The opened folder, which must stay open while the address is used.
    _folder: Option<File>,
}

impl SocketAddress {
    pub(super) fn new(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= ADDRESS_BYTES {
            return Ok(Self { path, _folder: None });
        }
        let opened = File::open(folder)?;
        let path = Path::new("/proc/self/fd").join(opened.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(opened) })
    }
}
