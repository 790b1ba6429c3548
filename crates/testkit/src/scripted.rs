//! How a test names and starts the scripted servers.

use crate::binary;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Longer than a loaded machine takes to answer on loopback.
const PATIENCE: Duration = Duration::from_secs(10);

/// A scripted stdio server, not yet started: whoever is tested starts it.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// The program to start.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Scripted {
    /// A stdio server that follows `scripts`; without any, a correct one.
    ///
    /// # Panics
    ///
    /// If the program has not been built.
    pub fn stdio(scripts: &[&str]) -> Self {
        Self { program: binary(), args: arguments("stdio", scripts) }
    }

    /// One more option, such as `("--versions", "2026-07-28")`.
    #[must_use]
    pub fn with(mut self, option: &str, value: &str) -> Self {
        self.args.extend([option.to_owned(), value.to_owned()]);
        self
    }

    /// Writes everything it receives to `path`, for [`crate::log_lines`].
    #[must_use]
    pub fn logged(self, path: &Path) -> Self {
        self.with("--log", &path.to_string_lossy())
    }
}

/// A running scripted HTTP server, killed when dropped.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    /// The server ends with this pipe, should the test be killed before it can drop it.
    _stdin: Option<ChildStdin>,
    url: String,
}

impl HttpServer {
    /// Starts a server that follows `scripts`; without any, a correct one.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(scripts: &[&str]) -> Self {
        Self::start_with(scripts, &[])
    }

    /// As [`HttpServer::start`], with further options such as `["--answer", "sse"]`.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[expect(clippy::expect_used, reason = "a test without its server cannot say anything else")]
    pub fn start_with(scripts: &[&str], options: &[&str]) -> Self {
        Self::try_start(scripts, options).expect("the scripted HTTP server starts")
    }

    #[expect(clippy::disallowed_methods, reason = "it is killed on drop, and ends with its input")]
    fn try_start(scripts: &[&str], options: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(binary());
        command.args(arguments("http", scripts)).args(options);
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

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap_or(&self.url);
        rest.split('/').next().unwrap_or_default()
    }

    /// The process, for tests that stop or kill it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What the server has counted so far, as its `/stats` page says it.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[expect(clippy::expect_used, reason = "figures that cannot be had must fail the test")]
    pub fn stats(&self) -> Value {
        self.try_stats().expect("the scripted HTTP server tells its figures")
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
        // One that has already ended is what we want.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

fn arguments(kind: &str, scripts: &[&str]) -> Vec<String> {
    let scripts = scripts.iter().flat_map(|script| ["--script", script]);
    [kind].into_iter().chain(scripts).map(str::to_owned).collect()
}
