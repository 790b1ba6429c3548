//! A D-Bus connection to the session bus: one peer, one call at a time.
//!
//! The Secret Service needs seven calls, for which a D-Bus library would add forty crates; here it is a
//! socket with a timeout. Values are encoded in `value`, messages in `message`.

mod message;
mod value;

pub(super) use message::{DBusCall, DBusReply};
pub(super) use value::{DBusReader, DBusWriter};

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits;

use crate::vault::key_location::KeyPlaceError;

/// The longest line of the authentication before the first message.
const LINE_BYTES: usize = 512;

/// An open, authenticated D-Bus connection.
#[derive(Debug)]
pub(super) struct DBusConnection {
    stream: UnixStream,
    limit: Duration,
    serial: u32,
}

impl DBusConnection {
    /// Connects to the first address that works, and authenticates.
    pub(super) fn connect(addresses: &str, limit: Duration) -> Result<Self, KeyPlaceError> {
        let mut failure = KeyPlaceError::NoBus;
        for address in addresses.split(';').filter_map(socket_address) {
            match UnixStream::connect_addr(&address) {
                Ok(stream) => return Self::start_session(stream, limit),
                Err(error) => failure = KeyPlaceError::Unreachable(Arc::new(error)),
            }
        }
        Err(failure)
    }

    /// Sends a call, and waits for its reply.
    pub(super) fn call(&mut self, call: DBusCall) -> Result<DBusReply, KeyPlaceError> {
        self.serial += 1;
        let serial = self.serial;
        let bytes = call.into_message(serial);
        self.stream.write_all(&bytes).map_err(|error| self.classify_error(error))?;
        for _ in 0..limits::KEYCHAIN_MESSAGES {
            if let Some(reply) = self.receive_reply(serial)? {
                return reply;
            }
        }
        Err(KeyPlaceError::Malformed)
    }

    fn start_session(stream: UnixStream, limit: Duration) -> Result<Self, KeyPlaceError> {
        let mut bus = Self { stream, limit, serial: 0 };
        bus.authenticate().map_err(|error| bus.classify_error(error))?;
        let hello =
            DBusCall::new("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello");
        bus.call(hello)?;
        Ok(bus)
    }

    /// Authenticates. The bus asks the kernel for our user id, so no name is sent.
    fn authenticate(&mut self) -> io::Result<()> {
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
        if line.starts_with(start.as_bytes()) { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    /// The next message, if it is the reply to `serial`; others are broadcast signals.
    fn receive_reply(
        &mut self,
        serial: u32,
    ) -> Result<Option<Result<DBusReply, KeyPlaceError>>, KeyPlaceError> {
        let mut start = [0; message::START_BYTES];
        self.stream.read_exact(&mut start).map_err(|error| self.classify_error(error))?;
        let rest = message::rest_bytes(&start).ok_or(KeyPlaceError::Malformed)?;
        let mut bytes = start.to_vec();
        bytes.resize(message::START_BYTES + rest, 0);
        let rest = bytes.get_mut(message::START_BYTES..).unwrap_or_default();
        self.stream.read_exact(rest).map_err(|error| self.classify_error(error))?;
        DBusReply::parse(bytes, serial).ok_or(KeyPlaceError::Malformed)
    }

    fn classify_error(&self, error: io::Error) -> KeyPlaceError {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                KeyPlaceError::NoAnswer { limit: self.limit }
            }
            io::ErrorKind::InvalidData => KeyPlaceError::Malformed,
            _ => KeyPlaceError::Unreachable(Arc::new(error)),
        }
    }
}

/// Parses `unix:path=…` and `unix:abstract=…`, as the specification defines them; other transports lead to
/// other machines.
fn socket_address(address: &str) -> Option<SocketAddr> {
    let pairs = address.trim().strip_prefix("unix:")?;
    let value = |name: &str| {
        let named = |pair: &str| {
            pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| unescape_value(value))
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

/// Decodes `%2d` to a byte.
fn unescape_value(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests;
