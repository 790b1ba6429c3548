//! Writes messages to stdout, framed as the scripts say.

use super::prelude::CHATTER;
use crate::life;
use crate::lock::lock;
use crate::options::Scripts;
use crate::server::{Due, Out, Reply};
use mcparley_testkit::Name;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Standard output; one message at a time.
#[derive(Debug)]
pub(crate) struct Stdout {
    batch: bool,
    crlf: bool,
    /// Whether log lines stand around every message.
    chatter: bool,
    /// Whether a byte order mark has still to be written.
    bom: Mutex<bool>,
}

impl Stdout {
    pub(crate) fn new(scripts: &Scripts) -> Self {
        let bom = Mutex::new(scripts.has(Name::Bom));
        let (batch, crlf) = (scripts.has(Name::Batch), scripts.has(Name::Crlf));
        Self { batch, crlf, chatter: scripts.has(Name::Chatter), bom }
    }

    /// Writes a reply, and what goes ahead of it in the same write.
    pub(crate) fn reply(&self, reply: &Reply, due: Due<'_>) -> io::Result<()> {
        if due.has(Name::PartialExit) {
            let body = reply.body.to_vec()?;
            self.write(body.get(..body.len() / 2).unwrap_or_default())?;
            life::end(6);
        }
        if let Some(ms) = due.number(Name::SplitReply) {
            return self.split(reply, Duration::from_millis(ms));
        }
        self.chat()?;
        for copy in 0..reply.copies {
            let ahead = if copy == 0 { self.framed(&reply.ahead) } else { Vec::new() };
            let mut out = self.begin()?;
            match ahead.is_empty() {
                true => {
                    out.write_all(self.start())?;
                    reply.body.write_to(&mut out)?;
                    out.write_all(self.end())?;
                }
                false => {
                    let body = [self.start(), &reply.body.to_vec()?, self.end()].concat();
                    out.write_all(&[ahead, body].concat())?;
                }
            }
            out.flush()?;
        }
        self.chat()
    }

    fn chat(&self) -> io::Result<()> {
        if self.chatter { self.write(CHATTER.as_bytes()) } else { Ok(()) }
    }

    /// Closes stdout for the client; what is written later goes nowhere.
    pub(crate) fn close(&self) -> io::Result<()> {
        // Whoever is writing shall have finished.
        let _held = io::stdout().lock();
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere)?;
        Ok(())
    }

    fn split(&self, reply: &Reply, pause: Duration) -> io::Result<()> {
        let body = [self.start(), &reply.body.to_vec()?, self.end()].concat();
        let (first, second) = body.split_at(body.len() / 2);
        let mut out = self.begin()?;
        out.write_all(first)?;
        out.flush()?;
        thread::sleep(pause);
        out.write_all(second)?;
        out.flush()
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.begin()?;
        out.write_all(bytes)?;
        out.flush()
    }

    fn begin(&self) -> io::Result<io::StdoutLock<'static>> {
        let mut bom = lock(&self.bom);
        let mut out = io::stdout().lock();
        if std::mem::take(&mut *bom) {
            out.write_all("\u{feff}".as_bytes())?;
        }
        Ok(out)
    }

    fn start(&self) -> &'static [u8] {
        if self.batch { b"[" } else { b"" }
    }

    fn end(&self) -> &'static [u8] {
        match (self.batch, self.crlf) {
            (true, true) => b"]\r\n",
            (true, false) => b"]\n",
            (false, true) => b"\r\n",
            (false, false) => b"\n",
        }
    }

    fn framed(&self, lines: &[u8]) -> Vec<u8> {
        if !self.batch && !self.crlf {
            return lines.to_vec();
        }
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.flat_map(|line| [self.start(), line, self.end()].concat()).collect()
    }
}

impl Out for Stdout {
    fn send(&self, lines: &[u8]) -> io::Result<()> {
        self.write(&self.framed(lines))
    }

    /// On stdio a request is taken back by a notification only.
    fn gone(&self) -> bool {
        false
    }
}
