//! Runs the real authorization servers of the fleet for a test: `fleet/provider.mjs`, which documents its
//! options, and `fleet/demo_fastmcp_auth.py`.

use crate::browser::Browser;
use serde_json::Value;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

/// A running OpenID provider with the MCP servers it protects, killed when dropped.
#[derive(Debug)]
pub struct OpenIdProvider(FleetProgram);

impl OpenIdProvider {
    /// Starts a provider with these options, such as `["--access-ttl", "2"]`.
    ///
    /// # Panics
    ///
    /// If the fleet is not installed, or the provider does not start.
    #[expect(clippy::panic, reason = "a test without its provider cannot say anything else")]
    pub fn start(options: &[&str]) -> Self {
        match Self::try_start(options) {
            Ok(provider) => provider,
            Err(error) => panic!(
                "the OpenID provider does not start: {error}; is the fleet installed? `cargo xtask fleet`"
            ),
        }
    }

    fn try_start(options: &[&str]) -> io::Result<Self> {
        let root = repository_path();
        let script = root.join("fleet/provider.mjs");
        FleetProgram::start(&root.join(".tools/fleet/npm/node"), &script, options).map(Self)
    }

    /// The issuer.
    pub fn issuer(&self) -> &str {
        self.0.said["issuer"].as_str().unwrap_or_default()
    }

    /// The URL of the protected MCP server.
    pub fn url(&self) -> &str {
        self.0.said["mcp"].as_str().unwrap_or_default()
    }

    /// The clients that need no registration: `secret`, `key`, `registered`, `device`, `gateway`,
    /// `idp`, `xaa`.
    pub fn clients(&self) -> &Value {
        &self.0.said["clients"]
    }

    /// The MCP servers behind their own authorization servers, each with `issuer` and `mcp`.
    pub fn other_servers(&self) -> &[Value] {
        self.0.said["xaa"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The counters of the provider: `interactions` (pages a user agreed on), `registrations`, `revocations`,
    /// token requests by `grants`, and `errors`.
    ///
    /// # Panics
    ///
    /// If the provider does not answer.
    pub fn stats(&self) -> Value {
        fetch_stats(self.issuer())
    }

    /// The counters of one of [`OpenIdProvider::other_servers`].
    ///
    /// # Panics
    ///
    /// If there is none, or it does not answer.
    pub fn other_server_stats(&self, index: usize) -> Value {
        let other = self.other_servers().get(index).and_then(|other| other["issuer"].as_str());
        fetch_stats(other.unwrap_or_default())
    }
}

/// The real FastMCP server that is its own authorization server (`fleet/demo_fastmcp_auth.py`), killed when
/// dropped.
#[derive(Debug)]
pub struct ProtectedFastMcp(FleetProgram);

impl ProtectedFastMcp {
    /// Starts the server.
    ///
    /// # Panics
    ///
    /// If the fleet is not installed, or the server does not start.
    #[expect(clippy::panic, reason = "a test without its server cannot say anything else")]
    pub fn start() -> Self {
        let root = repository_path();
        let script = root.join("fleet/demo_fastmcp_auth.py");
        match FleetProgram::start(&root.join(".tools/fleet/fastmcp/bin/python"), &script, &[]) {
            Ok(server) => Self(server),
            Err(error) => panic!(
                "the FastMCP server does not start: {error}; is the fleet installed? `cargo xtask fleet`"
            ),
        }
    }

    /// The URL of the server.
    pub fn url(&self) -> &str {
        self.0.said["mcp"].as_str().unwrap_or_default()
    }

    /// Invalidates all access tokens issued so far; refresh tokens stay valid.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn expire_access_tokens(&self) {
        let page = Browser::new().send("POST", &format!("{}/expire", self.origin()), &[], "");
        assert_eq!(page.status, 200, "access tokens expire: {}", page.text());
    }

    /// The number of token refreshes.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn refresh_count(&self) -> u64 {
        fetch_stats(self.origin())["renewals"].as_u64().unwrap_or_default()
    }

    fn origin(&self) -> &str {
        self.0.said["origin"].as_str().unwrap_or_default()
    }
}

/// A program that prints its addresses as one line of JSON, killed when dropped.
#[derive(Debug)]
struct FleetProgram {
    child: Child,
    /// The open stdin of the program, at whose end it exits, should the test be killed before it drops this.
    _stdin: Option<ChildStdin>,
    said: Value,
}

impl FleetProgram {
    #[expect(clippy::disallowed_methods, reason = "it is killed on drop, and ends with its input")]
    fn start(program: &Path, script: &Path, options: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(script).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            let mut out = BufReader::new(out);
            out.read_line(&mut line)?;
            // Kept open and read, or the program would fail on its later output.
            thread::spawn(move || io::copy(&mut out, &mut io::sink()));
        }
        let mut announced = Self { child, _stdin: stdin, said: Value::Null };
        announced.said = serde_json::from_str(&line).map_err(io::Error::other)?;
        Ok(announced)
    }
}

impl Drop for FleetProgram {
    fn drop(&mut self) {
        // Killing a process that has already exited fails, which is fine.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

fn fetch_stats(issuer: &str) -> Value {
    Browser::new().open(&format!("{issuer}/stats")).json()
}

fn repository_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
