//! A client on raw pipes, which records every byte of a server with its time.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio as Pipe};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The timeout: longer than any step takes on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Stdio {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    chunks: Receiver<(Instant, Vec<u8>)>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    /// Bytes received and not consumed yet.
    buffer: Vec<u8>,
    /// The times of reads, each with the number of bytes received before.
    pub(crate) arrivals: Vec<Instant>,
}

/// A server that follows `scripts`.
pub(crate) fn start(scripts: &[&str]) -> Stdio {
    Stdio::start(&ScriptedStdio::new(scripts))
}

impl Stdio {
    pub(crate) fn start(scripted: &ScriptedStdio) -> Self {
        let mut command = Command::new(&scripted.program);
        command.args(&scripted.args).stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
        let mut child = command.spawn().unwrap();
        let (sender, chunks) = channel();
        let mut out = child.stdout.take().unwrap();
        thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = out.read(&mut buffer) {
                if sender.send((Instant::now(), buffer[..count].to_vec())).is_err() {
                    break;
                }
            }
        });
        let mut errors = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            errors.read_to_end(&mut text).unwrap();
            text
        });
        let stdin = child.stdin.take();
        Self { child, stdin, chunks, stderr: Some(stderr), buffer: Vec::new(), arrivals: Vec::new() }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.try_send(message).unwrap();
    }

    pub(crate) fn try_send(&mut self, message: &Value) -> std::io::Result<()> {
        self.stdin.as_mut().unwrap().write_all(format!("{message}\n").as_bytes())
    }

    /// The next line without its newline, or none when stdout has ended; a last half line counts.
    pub(crate) fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(line[..end].to_vec());
            }
            match self.chunks.recv_timeout(PATIENCE) {
                Ok((at, chunk)) => {
                    self.arrivals.push(at);
                    self.buffer.extend_from_slice(&chunk);
                }
                Err(RecvTimeoutError::Disconnected) if self.buffer.is_empty() => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(std::mem::take(&mut self.buffer)),
                Err(RecvTimeoutError::Timeout) => panic!("nothing came in time"),
            }
        }
    }

    /// Whether nothing comes for a moment.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let moment = Duration::from_millis(100);
        self.buffer.is_empty() && self.chunks.recv_timeout(moment) == Err(RecvTimeoutError::Timeout)
    }

    pub(crate) fn message(&mut self) -> Value {
        serde_json::from_slice(&self.line().unwrap()).unwrap()
    }

    pub(crate) fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Asks and takes the next line as the answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.request(7, method, params);
        self.message()
    }

    /// The old era's handshake; returns the answer.
    pub(crate) fn greet(&mut self) -> Value {
        self.request(1, "initialize", &initialize("2025-11-25"));
        let greeting = self.message();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        greeting
    }

    /// Calls `echo` with id 2.
    pub(crate) fn echo(&mut self) {
        self.request(2, "tools/call", &echo());
    }

    pub(crate) fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes stdin and returns the exit status.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.close_stdin();
        self.wait()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// The complete stderr; the server must have exited.
    pub(crate) fn stderr(&mut self) -> Vec<u8> {
        self.stderr.take().unwrap().join().unwrap()
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

pub(crate) fn initialize(version: &str) -> Value {
    let client = json!({ "name": "raw", "version": "1" });
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client })
}

pub(crate) fn echo() -> Value {
    json!({ "name": "echo", "arguments": { "message": "hi" } })
}

/// The parameters of a stateless request.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
    });
    params
}

/// The result of `echo`, as it stands on the wire.
pub(crate) const HI: &str = r#"{"content":[{"type":"text","text":"hi"}],"isError":false}"#;
