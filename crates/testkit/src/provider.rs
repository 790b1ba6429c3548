//! The real authorization servers of the fleet, run for a test: `fleet/provider.mjs`, which says what it can do, and
//! `fleet/demo_fastmcp_auth.py`.

use crate::browser::Browser;
use serde_json::Value;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

/// A running provider with the MCP servers it protects, killed when dropped.
#[derive(Debug)]
pub struct OpenIdProvider(Announced);

impl OpenIdProvider {
    /// Starts one with these options, such as `["--access-ttl", "2"]`.
    ///
    /// # Panics
    ///
    /// If the fleet is not installed, or it does not start.
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
        let root = repository();
        let script = root.join("fleet/provider.mjs");
        Announced::start(&root.join(".tools/fleet/npm/node"), &script, options).map(Self)
    }

    /// Its issuer.
    pub fn issuer(&self) -> &str {
        self.0.said["issuer"].as_str().unwrap_or_default()
    }

    /// The MCP server it protects.
    pub fn url(&self) -> &str {
        self.0.said["mcp"].as_str().unwrap_or_default()
    }

    /// The clients that need not register: `secret`, `key`, `registered`, `device`, `idp`, `xaa`.
    pub fn clients(&self) -> &Value {
        &self.0.said["clients"]
    }

    /// The MCP servers behind authorization servers of their own, each with `issuer` and `mcp`.
    pub fn others(&self) -> &[Value] {
        self.0.said["xaa"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// What it has seen: `interactions` (pages a person agreed on), `registrations`, `revocations`, token requests by
    /// `grants`, and `errors`.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn stats(&self) -> Value {
        stats_of(self.issuer())
    }

    /// The same of one of [`OpenIdProvider::others`].
    ///
    /// # Panics
    ///
    /// If there is none, or it does not answer.
    pub fn stats_of_other(&self, index: usize) -> Value {
        let other = self.others().get(index).and_then(|other| other["issuer"].as_str());
        stats_of(other.unwrap_or_default())
    }
}

/// The real FastMCP server that is its own authorization server, killed when dropped: `fleet/demo_fastmcp_auth.py`.
#[derive(Debug)]
pub struct ProtectedFastMcp(Announced);

impl ProtectedFastMcp {
    /// Starts one.
    ///
    /// # Panics
    ///
    /// If the fleet is not installed, or it does not start.
    #[expect(clippy::panic, reason = "a test without its server cannot say anything else")]
    pub fn start() -> Self {
        let root = repository();
        let script = root.join("fleet/demo_fastmcp_auth.py");
        match Announced::start(&root.join(".tools/fleet/fastmcp/bin/python"), &script, &[]) {
            Ok(server) => Self(server),
            Err(error) => panic!(
                "the FastMCP server does not start: {error}; is the fleet installed? `cargo xtask fleet`"
            ),
        }
    }

    /// The address of the server.
    pub fn url(&self) -> &str {
        self.0.said["mcp"].as_str().unwrap_or_default()
    }

    /// From now on no access token issued so far is good; refresh tokens are.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn expire_access_tokens(&self) {
        let page = Browser::new().send("POST", &format!("{}/expire", self.origin()), &[], "");
        assert_eq!(page.status, 200, "access tokens expire: {}", page.text());
    }

    /// How often a refresh token was taken for new tokens.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn renewals(&self) -> u64 {
        stats_of(self.origin())["renewals"].as_u64().unwrap_or_default()
    }

    fn origin(&self) -> &str {
        self.0.said["origin"].as_str().unwrap_or_default()
    }
}

/// A program that says where it listens in one line of JSON, killed when dropped.
#[derive(Debug)]
struct Announced {
    child: Child,
    /// It ends with this pipe, should the test be killed before it can drop it.
    _stdin: Option<ChildStdin>,
    said: Value,
}

impl Announced {
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
            // Kept open and read, or it would die of what it says later.
            thread::spawn(move || io::copy(&mut out, &mut io::sink()));
        }
        let mut announced = Self { child, _stdin: stdin, said: Value::Null };
        announced.said = serde_json::from_str(&line).map_err(io::Error::other)?;
        Ok(announced)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        // One that has already ended is what we want.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

fn stats_of(issuer: &str) -> Value {
    Browser::new().open(&format!("{issuer}/stats")).json()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
