//! Writes the `--log`: all received messages, so that a test can check them; and the protocol record, which is
//! checked after a test run.

use crate::message::ClientMessage;
use crate::options::{NEW, OLD, Options};
use crate::server;
use mcparley_testkit::{MessageRecord, Name};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The log file, if one is configured.
#[derive(Debug)]
pub(crate) struct ReceiveLog(Option<File>);

impl ReceiveLog {
    /// Opens the log and writes the start of the server.
    pub(crate) fn open(options: &Options) -> io::Result<Self> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        let record = Self(options.log.as_ref().map(open).transpose()?);
        record.write_line("+", std::process::id().to_string().as_bytes())?;
        Ok(record)
    }

    /// Writes one received line.
    pub(crate) fn log_received(&self, line: &[u8]) -> io::Result<()> {
        self.write_line("<", line)
    }

    /// Writes a line with a single write call: several servers may share a log.
    fn write_line(&self, mark: &str, text: &[u8]) -> io::Result<()> {
        let Some(mut file) = self.0.as_ref() else {
            return Ok(());
        };
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        let mut line = format!("{micros} {mark} ").into_bytes();
        line.extend_from_slice(text);
        line.push(b'\n');
        file.write_all(&line)
    }
}

/// The protocol record of a server: each message with the revision that it has to follow.
#[derive(Debug)]
pub(crate) struct ProtocolRecord(MessageRecord);

impl ProtocolRecord {
    pub(crate) fn open(options: &Options) -> Self {
        Self(if options.unrecorded { MessageRecord::default() } else { MessageRecord::open() })
    }

    /// Records a message. `agreed` is the revision of its connection or session, if there was a handshake; the
    /// message itself may state another.
    pub(crate) fn add_message(&self, options: &Options, agreed: Option<&str>, text: &[u8]) {
        let message = ClientMessage::parse(text);
        let stated = message.as_ref().and_then(stated_revision);
        let newest_old = options.old_era_versions().next().unwrap_or(NEW);
        self.0.add_to_server(stated.or(agreed).unwrap_or(newest_old), text);
    }
}

/// The revision that a message states, if it is one of the known ones: in its `_meta`, or as the offer of a handshake.
fn stated_revision(message: &ClientMessage) -> Option<&str> {
    let offered = || message.text("protocolVersion").filter(|_| message.method() == Some("initialize"));
    message.version().or_else(offered).filter(|version| *version == NEW || OLD.contains(version))
}

/// The revision of a connection after this message: the one that is agreed on by a handshake, or that a stateless
/// request states.
pub(crate) fn agreed_revision(options: &Options, message: &ClientMessage) -> Option<String> {
    if message.method() != Some("initialize") {
        return message.version().map(str::to_owned);
    }
    // A server that lies about the revision is spoken to as it wishes.
    let lie = options.scripts.text(Name::Version).filter(|lie| OLD.contains(lie));
    lie.or_else(|| server::negotiate_version(options, message)).map(str::to_owned)
}
