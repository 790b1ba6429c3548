//! Writes the `--log`: all received messages, so that a test can check them.

use crate::options::Options;
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
