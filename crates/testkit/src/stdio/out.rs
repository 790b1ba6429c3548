//! Writes messages to stdout, with the framing faults of the scripts.

use super::prelude::CHATTER;
use crate::life;
use crate::lock::lock;
use crate::options::RequestedScripts;
use crate::server::{DueFaults, MessageSink, ServerReply};
use mcparley_testkit::Name;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Standard output, written one message at a time.
#[derive(Debug)]
pub(crate) struct ScriptedStdout {
    batch: bool,
    crlf: bool,
    /// Whether log lines surround every message.
    chatter: bool,
    /// Whether a byte order mark is still to be written.
    bom: Mutex<bool>,
}

impl ScriptedStdout {
    pub(crate) fn new(scripts: &RequestedScripts) -> Self {
        let bom = Mutex::new(scripts.has(Name::Bom));
        let (batch, crlf) = (scripts.has(Name::Batch), scripts.has(Name::Crlf));
        Self { batch, crlf, chatter: scripts.has(Name::Chatter), bom }
    }

    /// Writes a reply, together with the messages ahead of it.
    pub(crate) fn write_reply(&self, reply: &ServerReply, due: DueFaults<'_>) -> io::Result<()> {
        if due.has(Name::PartialExit) {
            let body = reply.body.to_vec()?;
            self.write_bytes(body.get(..body.len() / 2).unwrap_or_default())?;
            life::exit_process(6);
        }
        if let Some(ms) = due.number(Name::SplitReply) {
            return self.write_in_two(reply, Duration::from_millis(ms));
        }
        self.write_chatter()?;
        for copy in 0..reply.copies {
            let ahead = if copy == 0 { self.frame_lines(&reply.ahead) } else { Vec::new() };
            let mut out = self.lock_stdout()?;
            match ahead.is_empty() {
                true => {
                    out.write_all(self.line_start())?;
                    reply.body.write_to(&mut out)?;
                    out.write_all(self.line_end())?;
                }
                false => {
                    let body = [self.line_start(), &reply.body.to_vec()?, self.line_end()].concat();
                    out.write_all(&[ahead, body].concat())?;
                }
            }
            out.flush()?;
        }
        self.write_chatter()
    }

    fn write_chatter(&self) -> io::Result<()> {
        if self.chatter { self.write_bytes(CHATTER.as_bytes()) } else { Ok(()) }
    }

    /// Closes stdout for the client; later output is discarded.
    pub(crate) fn close(&self) -> io::Result<()> {
        // The lock waits for a write in progress.
        let _held = io::stdout().lock();
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere)?;
        Ok(())
    }

    fn write_in_two(&self, reply: &ServerReply, pause: Duration) -> io::Result<()> {
        let body = [self.line_start(), &reply.body.to_vec()?, self.line_end()].concat();
        let (first, second) = body.split_at(body.len() / 2);
        let mut out = self.lock_stdout()?;
        out.write_all(first)?;
        out.flush()?;
        thread::sleep(pause);
        out.write_all(second)?;
        out.flush()
    }

    fn write_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.lock_stdout()?;
        out.write_all(bytes)?;
        out.flush()
    }

    fn lock_stdout(&self) -> io::Result<io::StdoutLock<'static>> {
        let mut bom = lock(&self.bom);
        let mut out = io::stdout().lock();
        if std::mem::take(&mut *bom) {
            out.write_all("\u{feff}".as_bytes())?;
        }
        Ok(out)
    }

    fn line_start(&self) -> &'static [u8] {
        if self.batch { b"[" } else { b"" }
    }

    fn line_end(&self) -> &'static [u8] {
        match (self.batch, self.crlf) {
            (true, true) => b"]\r\n",
            (true, false) => b"]\n",
            (false, true) => b"\r\n",
            (false, false) => b"\n",
        }
    }

    fn frame_lines(&self, lines: &[u8]) -> Vec<u8> {
        if !self.batch && !self.crlf {
            return lines.to_vec();
        }
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.flat_map(|line| [self.line_start(), line, self.line_end()].concat()).collect()
    }
}

impl MessageSink for ScriptedStdout {
    fn send_lines(&self, lines: &[u8]) -> io::Result<()> {
        self.write_bytes(&self.frame_lines(lines))
    }

    /// On stdio a request is canceled by a notification only.
    fn is_closed(&self) -> bool {
        false
    }
}
