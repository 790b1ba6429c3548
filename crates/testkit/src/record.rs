//! Writes the `--log`: everything that was received, so that a test can say what was sent.

use crate::options::Options;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The log, if one was asked for.
#[derive(Debug)]
pub(crate) struct Record(Option<File>);

impl Record {
    /// Opens the log and notes that a server has started.
    pub(crate) fn open(options: &Options) -> io::Result<Self> {
        let open = |path| OpenOptions::new().create(true).append(true).open(path);
        let record = Self(options.log.as_ref().map(open).transpose()?);
        record.write("+", std::process::id().to_string().as_bytes())?;
        Ok(record)
    }

    /// Notes one line that was received.
    pub(crate) fn received(&self, line: &[u8]) -> io::Result<()> {
        self.write("<", line)
    }

    /// One write per line: several servers may share a log.
    fn write(&self, mark: &str, text: &[u8]) -> io::Result<()> {
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
