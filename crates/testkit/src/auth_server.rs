//! How a test starts the fake authorization server, with the MCP server whose door it keeps.

use crate::browser::{Browser, Page};
use crate::scripted::HttpServer;
use serde_json::Value;

/// A client that need not register.
pub const STATIC_CLIENT: &str = "static-client";
/// Its secret.
pub const STATIC_SECRET: &str = "canary-secret-static";

/// A running authorization server and the scripted MCP server behind it, killed when dropped.
#[derive(Debug)]
pub struct AuthServer {
    server: HttpServer,
    issuer: String,
}

impl AuthServer {
    /// Starts one that was told `lies`, each `WORD[:ARGUMENT]` of [`crate::LIES`]; without any, a right one.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(lies: &[&str]) -> Self {
        Self::start_with(lies, &[], &[])
    }

    /// As [`AuthServer::start`], with scripts and options for the MCP server.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start_with(lies: &[&str], scripts: &[&str], options: &[&str]) -> Self {
        let lies = ["right"].iter().chain(lies).flat_map(|lie| ["--auth", lie]);
        let options: Vec<&str> = lies.chain(options.iter().copied()).collect();
        let server = HttpServer::start_with(scripts, &options);
        let issuer = server.stats()["auth"]["origin"].as_str().unwrap_or_default().to_owned();
        Self { server, issuer }
    }

    /// The MCP endpoint.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// The origin of the authorization server: its issuer, unless it was told to have a path or no origin of its own.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The MCP server.
    pub fn server(&self) -> &HttpServer {
        &self.server
    }

    /// What it has seen: `requests`, `grants`, `errors`, `refused`, `issued`, `replays`, `last`, `recent`.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn stats(&self) -> Value {
        self.server.stats()["auth"].clone()
    }

    /// Tells it more, from now on; what the same word said before is forgotten.
    ///
    /// # Panics
    ///
    /// If it does not understand.
    pub fn tell(&self, lies: &[&str]) {
        let page = self.command("told", &lies.join("\n"));
        assert_eq!(page.status, 200, "told {lies:?}: {}", page.text());
    }

    /// From now on no access token issued so far is good; refresh tokens are.
    ///
    /// # Panics
    ///
    /// If it does not answer.
    pub fn expire_access_tokens(&self) {
        assert_eq!(self.command("expire", "").status, 200, "access tokens expire");
    }

    fn command(&self, path: &str, body: &str) -> Page {
        Browser::new().send("POST", &format!("{}/{path}", self.issuer), &[], body)
    }
}
