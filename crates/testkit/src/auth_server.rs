//! Starts the fake authorization server for a test, with the MCP server it protects.

use crate::browser::{Browser, Page};
use crate::scripted::HttpServer;
use serde_json::Value;

/// The id of a client that is known without registration.
pub const STATIC_CLIENT: &str = "static-client";
/// The secret of [`STATIC_CLIENT`].
pub const STATIC_SECRET: &str = "canary-secret-static";

/// A running authorization server and the scripted MCP server behind it, killed when dropped.
#[derive(Debug)]
pub struct AuthServer {
    server: HttpServer,
    issuer: String,
}

impl AuthServer {
    /// Starts a server with these `lies`, each `WORD[:ARGUMENT]` of [`crate::LIES`]; without any, it behaves
    /// correctly.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    pub fn start(lies: &[&str]) -> Self {
        Self::start_with(lies, &[], &[])
    }

    /// As [`AuthServer::start`], with scripts and options for the MCP server.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    pub fn start_with(lies: &[&str], scripts: &[&str], options: &[&str]) -> Self {
        let lies = ["right"].iter().chain(lies).flat_map(|lie| ["--auth", lie]);
        let options: Vec<&str> = lies.chain(options.iter().copied()).collect();
        let server = HttpServer::start_with(scripts, &options);
        let issuer = server.stats()["auth"]["origin"].as_str().unwrap_or_default().to_owned();
        Self { server, issuer }
    }

    /// The URL of the MCP endpoint.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// The origin of the authorization server: its issuer, unless a lie gives the issuer a path or the MCP
    /// server's origin.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The protected MCP server.
    pub fn server(&self) -> &HttpServer {
        &self.server
    }

    /// The counters of the authorization server: `requests`, `grants`, `errors`, `refused`, `issued`,
    /// `replays`, `last`, `recent`.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn stats(&self) -> Value {
        self.server.stats()["auth"].clone()
    }

    /// Changes the behavior of the running server; a lie replaces an earlier one with the same word.
    ///
    /// # Panics
    ///
    /// If the server rejects a lie.
    pub fn apply_lies(&self, lies: &[&str]) {
        let page = self.post_command("told", &lies.join("\n"));
        assert_eq!(page.status, 200, "told {lies:?}: {}", page.text());
    }

    /// Invalidates all access tokens issued so far; refresh tokens stay valid.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn expire_access_tokens(&self) {
        assert_eq!(self.post_command("expire", "").status, 200, "access tokens expire");
    }

    fn post_command(&self, path: &str, body: &str) -> Page {
        Browser::new().send("POST", &format!("{}/{path}", self.issuer), &[], body)
    }
}
