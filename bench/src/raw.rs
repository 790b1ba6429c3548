//! A client without a library: what every client must do, and nothing else.
//!
//! One thread and blocking pipes, the fastest way to talk to one process. It
//!
//! - numbers its requests, remembers those that wait and matches answers by id, in any order;
//! - writes what is queued in one system call, and reads through a buffer of 64 KiB;
//! - sends the `_meta` that the newest protocol wants with every request, as fixed text;
//! - reads each answer once, straight into what the caller wants of it.
//!
//! It has no limits, no time-outs, no recovery and no second era, and never looks at what it did not ask for.

#![expect(
    clippy::disallowed_methods,
    reason = "the comparison must not profit or suffer from our own spawning"
)]

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde::de::DeserializeOwned;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
const BUFFER: usize = 64 * 1024;

/// A running server and the requests it has not answered yet.
#[derive(Debug)]
pub struct Raw {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    queued: Vec<u8>,
    line: Vec<u8>,
    last: u64,
    waiting: HashSet<u64>,
}

/// The result of `tools/call`.
#[derive(Debug, Deserialize)]
pub struct Called {
    content: Vec<Block>,
}

#[derive(Debug, Deserialize)]
struct Block {
    text: String,
}

impl Called {
    /// How long its first text is.
    #[must_use]
    pub fn length(&self) -> usize {
        self.text().len()
    }

    /// Its first text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.content.first().map_or("", |block| &block.text)
    }
}

impl Raw {
    /// Starts a server; says nothing to it yet.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let stdout = BufReader::with_capacity(BUFFER, stdout);
        let (queued, line, waiting) = (Vec::new(), Vec::new(), HashSet::new());
        Ok(Self { child, stdin, stdout, queued, line, last: 0, waiting })
    }

    /// Queues a request; `members` stands before `_meta` and ends with a comma, if it is anything.
    pub fn queue(&mut self, method: &str, members: &str) -> u64 {
        self.last += 1;
        let id = self.last;
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{META}}}}}"#);
        self.queued.extend_from_slice(request.as_bytes());
        self.queued.push(b'\n');
        self.waiting.insert(id);
        id
    }

    /// Sends what is queued.
    ///
    /// # Errors
    /// When the server is gone.
    pub fn send(&mut self) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(&self.queued)?;
        self.queued.clear();
        Ok(())
    }

    /// Reads the next answer to one of the requests that wait.
    ///
    /// # Errors
    /// When the server is gone or what it says is not such an answer.
    pub fn answer<T: DeserializeOwned>(&mut self) -> io::Result<(u64, T)> {
        #[derive(Deserialize)]
        struct Reply<T> {
            id: u64,
            result: T,
        }
        loop {
            self.line.clear();
            if self.stdout.read_until(b'\n', &mut self.line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let reply: Reply<T> = serde_json::from_slice(&self.line)?;
            if self.waiting.remove(&reply.id) {
                return Ok((reply.id, reply.result));
            }
        }
    }

    /// Makes a request and waits for its answer.
    ///
    /// # Errors
    /// As for [`Self::answer`].
    pub fn request<T: DeserializeOwned>(&mut self, method: &str, members: &str) -> io::Result<T> {
        let id = self.queue(method, members);
        self.send()?;
        loop {
            let (answered, result) = self.answer()?;
            if answered == id {
                return Ok(result);
            }
        }
    }

    /// How many requests wait for an answer.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the next answer is here already.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.stdout.buffer().contains(&b'\n')
    }

    /// Closes the server's input; it ends by itself.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn wait(mut self) -> io::Result<()> {
        self.close();
        self.child.wait().map(drop)
    }
}
