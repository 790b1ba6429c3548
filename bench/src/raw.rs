//! A client without a library: the minimum that every client must do.
//!
//! One thread and blocking pipes, the fastest way to talk to one process. It
//!
//! - numbers its requests, remembers pending ones and matches answers by id, in any order;
//! - writes queued requests in one system call, and reads through a buffer of 64 KiB;
//! - sends the `_meta` that the newest protocol requires with every request, as fixed text;
//! - parses each answer once, directly into the caller's type.
//!
//! It has no limits, timeouts, recovery or second era, and ignores unsolicited messages.

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

/// A running server and its pending requests.
#[derive(Debug)]
pub struct RawClient {
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
pub struct CallText {
    content: Vec<TextBlock>,
}

#[derive(Debug, Deserialize)]
struct TextBlock {
    text: String,
}

impl CallText {
    /// The length of the first text.
    #[must_use]
    pub fn text_length(&self) -> usize {
        self.text().len()
    }

    /// The first text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.content.first().map_or("", |block| &block.text)
    }
}

impl RawClient {
    /// Starts a server; no request is sent yet.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn start(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        Self::from_command(command)
    }

    /// Starts a server by a command; no request is sent yet.
    ///
    /// # Errors
    /// When the server cannot be started.
    pub fn from_command(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let stdout = BufReader::with_capacity(BUFFER, stdout);
        let (queued, line, waiting) = (Vec::new(), Vec::new(), HashSet::new());
        Ok(Self { child, stdin, stdout, queued, line, last: 0, waiting })
    }

    /// Queues a request; `members` go before `_meta` and end with a comma unless empty.
    pub fn queue_request(&mut self, method: &str, members: &str) -> u64 {
        self.last += 1;
        let id = self.last;
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{META}}}}}"#);
        self.queued.extend_from_slice(request.as_bytes());
        self.queued.push(b'\n');
        self.waiting.insert(id);
        id
    }

    /// Sends the queued requests.
    ///
    /// # Errors
    /// When the server has exited.
    pub fn send_queued(&mut self) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(&self.queued)?;
        self.queued.clear();
        Ok(())
    }

    /// Reads the next answer to a pending request.
    ///
    /// # Errors
    /// When the server has exited, or its output is not such an answer.
    pub fn read_answer<T: DeserializeOwned>(&mut self) -> io::Result<(u64, T)> {
        #[derive(Deserialize)]
        struct RawReply<T> {
            id: u64,
            result: T,
        }
        loop {
            self.line.clear();
            if self.stdout.read_until(b'\n', &mut self.line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let reply: RawReply<T> = serde_json::from_slice(&self.line)?;
            if self.waiting.remove(&reply.id) {
                return Ok((reply.id, reply.result));
            }
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// As for [`Self::read_answer`].
    pub fn send_request<T: DeserializeOwned>(&mut self, method: &str, members: &str) -> io::Result<T> {
        let id = self.queue_request(method, members);
        self.send_queued()?;
        loop {
            let (answered, result) = self.read_answer()?;
            if answered == id {
                return Ok(result);
            }
        }
    }

    /// Sends a request and waits for the line of its answer, which is not parsed. No other request may be
    /// pending.
    ///
    /// # Errors
    /// When the server has exited.
    pub fn send_request_raw(&mut self, method: &str, members: &str) -> io::Result<&[u8]> {
        let id = self.queue_request(method, members);
        self.send_queued()?;
        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        loop {
            self.line.clear();
            if self.stdout.read_until(b'\n', &mut self.line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.line.starts_with(start.as_bytes()) {
                self.waiting.remove(&id);
                return Ok(&self.line);
            }
        }
    }

    /// The process id of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The number of pending requests.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the next answer has already been read into the buffer.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.stdout.buffer().contains(&b'\n')
    }

    /// Closes the server's input, so that the server exits.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Waits for the server to exit.
    ///
    /// # Errors
    /// When the exit status cannot be read.
    pub fn wait_for_exit(mut self) -> io::Result<()> {
        self.close_input();
        self.child.wait().map(drop)
    }
}
