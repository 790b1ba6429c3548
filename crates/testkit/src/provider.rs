//! The real OpenID provider of the fleet, run for a test: `fleet/provider.mjs`, which says what it can do.

use crate::browser::Browser;
use serde_json::Value;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

/// A running provider with the MCP servers it protects, killed when dropped.
#[derive(Debug)]
pub struct OpenIdProvider {
    child: Child,
    /// It ends with this pipe, should the test be killed before it can drop it.
    _stdin: Option<ChildStdin>,
    said: Value,
}

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

    #[expect(clippy::disallowed_methods, reason = "it is killed on drop, and ends with its input")]
    fn try_start(options: &[&str]) -> io::Result<Self> {
        let root = repository();
        let mut command = Command::new(root.join(".tools/fleet/npm/node"));
        command.arg(root.join("fleet/provider.mjs")).args(options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            let mut out = BufReader::new(out);
            out.read_line(&mut line)?;
            // Kept open and read, or it would die of what it says later.
            thread::spawn(move || io::copy(&mut out, &mut io::sink()));
        }
        let mut provider = Self { child, _stdin: stdin, said: Value::Null };
        provider.said = serde_json::from_str(&line).map_err(io::Error::other)?;
        Ok(provider)
    }

    /// Its issuer.
    pub fn issuer(&self) -> &str {
        self.said["issuer"].as_str().unwrap_or_default()
    }

    /// The MCP server it protects.
    pub fn url(&self) -> &str {
        self.said["mcp"].as_str().unwrap_or_default()
    }

    /// The clients that need not register: `secret`, `key`, `registered`, `device`, `idp`, `xaa`.
    pub fn clients(&self) -> &Value {
        &self.said["clients"]
    }

    /// The MCP servers behind authorization servers of their own, each with `issuer` and `mcp`.
    pub fn others(&self) -> &[Value] {
        self.said["xaa"].as_array().map(Vec::as_slice).unwrap_or_default()
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

impl Drop for OpenIdProvider {
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
