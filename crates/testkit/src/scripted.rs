//! Configures and starts the scripted servers for a test.

use crate::binary::testkit_path;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// The read timeout: longer than a loaded machine takes to answer on loopback.
const PATIENCE: Duration = Duration::from_secs(10);

/// The command of a scripted stdio server; the host under test starts it.
#[derive(Clone, Debug)]
pub struct ScriptedStdio {
    /// The program to start.
    pub program: PathBuf,
    /// The arguments of the program.
    pub args: Vec<String>,
}

impl ScriptedStdio {
    /// A stdio server that follows `scripts`; without any, a correct one.
    ///
    /// # Panics
    ///
    /// If the program has not been built.
    pub fn new(scripts: &[&str]) -> Self {
        Self { program: testkit_path(), args: script_arguments("stdio", scripts) }
    }

    /// Adds an option, such as `("--versions", "2026-07-28")`.
    #[must_use]
    pub fn with_option(mut self, option: &str, value: &str) -> Self {
        self.args.extend([option.to_owned(), value.to_owned()]);
        self
    }

    /// Logs all received messages to `path`, for [`crate::log_lines`].
    #[must_use]
    pub fn with_log(self, path: &Path) -> Self {
        self.with_option("--log", &path.to_string_lossy())
    }
}

/// A running scripted HTTP server, killed when dropped.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    /// The open stdin of the server, at whose end it exits, should the test be killed before it drops this.
    _stdin: Option<ChildStdin>,
    url: String,
}

impl HttpServer {
    /// Starts a server that follows `scripts`; without any, a correct one.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    pub fn start(scripts: &[&str]) -> Self {
        Self::start_with(scripts, &[])
    }

    /// Starts a server like [`HttpServer::start`], with further options such as `["--answer", "sse"]`.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    #[expect(clippy::expect_used, reason = "a test without its server cannot say anything else")]
    pub fn start_with(scripts: &[&str], options: &[&str]) -> Self {
        Self::try_start(scripts, options).expect("the scripted HTTP server starts")
    }

    #[expect(clippy::disallowed_methods, reason = "it is killed on drop, and ends with its input")]
    fn try_start(scripts: &[&str], options: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(testkit_path());
        command.args(script_arguments("http", scripts)).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let url = line.trim_end().strip_prefix("listening ").unwrap_or_default().to_owned();
        let server = Self { child, _stdin: stdin, url };
        match server.url.is_empty() {
            true => Err(io::Error::other(format!("not listening: `{line}`"))),
            false => Ok(server),
        }
    }

    /// The URL of the endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the same endpoint over a WebSocket.
    pub fn socket_url(&self) -> String {
        self.url.replacen("http", "ws", 1)
    }

    /// The address of the server, `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap_or(&self.url);
        rest.split('/').next().unwrap_or_default()
    }

    /// The process id, for tests that stop or kill the server.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The counters of the server, from its `/stats` page.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[expect(clippy::expect_used, reason = "figures that cannot be had must fail the test")]
    pub fn stats(&self) -> Value {
        self.try_stats().expect("the scripted HTTP server returns its counters")
    }

    fn try_stats(&self) -> io::Result<Value> {
        let mut stream = TcpStream::connect(self.address())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /stats HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        serde_json::from_str(body).map_err(io::Error::other)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // Killing a process that has already exited fails, which is fine.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

fn script_arguments(kind: &str, scripts: &[&str]) -> Vec<String> {
    let scripts = scripts.iter().flat_map(|script| ["--script", script]);
    let unrecorded = if sends_own_messages() { &["--unrecorded"][..] } else { &[] };
    [kind].into_iter().chain(scripts).chain(unrecorded.iter().copied()).map(str::to_owned).collect()
}

/// Whether the running tests write messages by hand instead of letting mcparley send them: those of this crate.
#[expect(clippy::disallowed_methods, reason = "cargo tells a test its package by the environment")]
fn sends_own_messages() -> bool {
    std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME"))
}
