//! A conversation on the session bus: one program, one question at a time.
//!
//! The Secret Service needs seven calls, for which a D-Bus library would be forty crates; here it is a socket
//! with a time limit. How values are written is in `value`, what a message looks like in `message`.

mod message;
mod value;

pub(super) use message::{Call, Reply};
pub(super) use value::{Reader, Writer};

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits;

use crate::vault::keeper::Why;

/// The longest line before the first message.
const LINE_BYTES: usize = 512;

/// An open connection, known to the bus.
#[derive(Debug)]
pub(super) struct Bus {
    stream: UnixStream,
    limit: Duration,
    serial: u32,
}

impl Bus {
    /// Connects to the first address that works, and says who we are.
    pub(super) fn connect(addresses: &str, limit: Duration) -> Result<Self, Why> {
        let mut failure = Why::NoBus;
        for address in addresses.split(';').filter_map(socket_address) {
            match UnixStream::connect_addr(&address) {
                Ok(stream) => return Self::begin(stream, limit),
                Err(error) => failure = Why::Unreachable(Arc::new(error)),
            }
        }
        Err(failure)
    }

    /// Asks, and waits for the answer to this question.
    pub(super) fn call(&mut self, call: Call) -> Result<Reply, Why> {
        self.serial += 1;
        let serial = self.serial;
        let bytes = call.print(serial);
        self.stream.write_all(&bytes).map_err(|error| self.failed(error))?;
        for _ in 0..limits::KEYCHAIN_MESSAGES {
            if let Some(reply) = self.receive(serial)? {
                return reply;
            }
        }
        Err(Why::Malformed)
    }

    fn begin(stream: UnixStream, limit: Duration) -> Result<Self, Why> {
        let mut bus = Self { stream, limit, serial: 0 };
        bus.introduce().map_err(|error| bus.failed(error))?;
        let hello =
            Call::new("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello");
        bus.call(hello)?;
        Ok(bus)
    }

    /// The bus asks the kernel who we are, so there is nothing to say but that it should.
    fn introduce(&mut self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(self.limit))?;
        self.stream.set_write_timeout(Some(self.limit))?;
        self.stream.write_all(b"\0AUTH EXTERNAL\r\n")?;
        self.expect_line("DATA")?;
        self.stream.write_all(b"DATA\r\n")?;
        self.expect_line("OK ")?;
        self.stream.write_all(b"BEGIN\r\n")
    }

    fn expect_line(&mut self, start: &str) -> io::Result<()> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            line.extend_from_slice(&byte);
            if line.len() > LINE_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        match line.starts_with(start.as_bytes()) {
            true => Ok(()),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// The next message, if it answers `serial`; others are signals that go to everybody.
    fn receive(&mut self, serial: u32) -> Result<Option<Result<Reply, Why>>, Why> {
        let mut start = [0; message::START_BYTES];
        self.stream.read_exact(&mut start).map_err(|error| self.failed(error))?;
        let rest = message::rest_bytes(&start).ok_or(Why::Malformed)?;
        let mut bytes = start.to_vec();
        bytes.resize(message::START_BYTES + rest, 0);
        let rest = bytes.get_mut(message::START_BYTES..).unwrap_or_default();
        self.stream.read_exact(rest).map_err(|error| self.failed(error))?;
        Reply::parse(bytes, serial).ok_or(Why::Malformed)
    }

    fn failed(&self, error: io::Error) -> Why {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Why::NoAnswer { limit: self.limit },
            io::ErrorKind::InvalidData => Why::Malformed,
            _ => Why::Unreachable(Arc::new(error)),
        }
    }
}

/// `unix:path=…` and `unix:abstract=…`, as the specification writes them; other ways lead to other machines.
fn socket_address(address: &str) -> Option<SocketAddr> {
    let pairs = address.trim().strip_prefix("unix:")?;
    let value = |name: &str| {
        let named = |pair: &str| {
            pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| unescape(value))
        };
        pairs.split(',').find_map(named)
    };
    match (value("path"), value("abstract")) {
        (Some(path), _) => {
            let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(path);
            SocketAddr::from_pathname(path).ok()
        }
        (None, Some(name)) => SocketAddr::from_abstract_name(name).ok(),
        (None, None) => None,
    }
}

/// `%2d` stands for a byte.
fn unescape(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests;
