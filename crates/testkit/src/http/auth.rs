//! A fake authorization server that protects the MCP server: correct unless a lie is set.
//!
//! It exists for fault injection, so it neither signs nor verifies signatures. All secrets it issues begin
//! with `canary-`, so that a test can search for them where they must not appear. The response of each path
//! is decided on plain values under one lock; how it is then delivered is up to [`manner`].

mod authorize;
mod book;
mod clients;
mod device;
mod door;
mod form;
mod grants;
mod jwt;
mod manner;
mod metadata;
mod proof;
mod token;
mod tokens;

use super::request::HttpRequest;
use super::wire::HttpWire;
use super::{ConnectionNext, TestSite};
use crate::lock::lock;
use crate::raw::RawBytes;
use book::OAuthStats;
use clients::RegisteredClients;
use device::PendingDevices;
use form::FormParameters;
use manner::OAuthDelivery;
use mcparley_testkit::{Lie, LieSet};
use proof::SeenProofs;
use serde_json::{Value, json};
use std::io;
use std::sync::Mutex;
use tokens::IssuedTokens;

/// The origins of the servers in this process.
#[derive(Debug)]
pub(crate) struct ServerOrigins {
    /// The origin of the MCP server.
    pub(crate) resource: String,
    /// The origin of the authorization server.
    pub(crate) server: String,
    /// An origin that should never receive a request.
    pub(crate) other: String,
}

/// The fake authorization server: its lies and its state.
#[derive(Debug)]
pub(crate) struct FakeAuthServer {
    origins: ServerOrigins,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lies: LieSet,
    tokens: IssuedTokens,
    clients: RegisteredClients,
    devices: PendingDevices,
    proofs: SeenProofs,
    book: OAuthStats,
    /// The number of token requests hit by a lie since lies were last set.
    met: u64,
}

/// A response, before its delivery is damaged.
#[derive(Debug)]
struct OAuthReply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Value,
}

impl OAuthReply {
    fn json(status: u16, body: Value) -> Self {
        Self { status, headers: vec![("Cache-Control", "no-store".to_owned())], body }
    }

    /// An OAuth error response.
    fn error(status: u16, error: &str) -> Self {
        Self::json(status, json!({ "error": error, "error_description": "as the fake server sees it" }))
    }

    fn redirect(location: String) -> Self {
        Self { status: 302, headers: vec![("Location", location)], body: Value::Null }
    }

    fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn to_raw(&self) -> RawBytes {
        if self.body.is_null() { RawBytes::default() } else { RawBytes::from(&self.body) }
    }
}

impl FakeAuthServer {
    pub(crate) fn new(lies: LieSet, origins: ServerOrigins) -> Self {
        Self { origins, state: Mutex::new(State { lies, ..State::default() }) }
    }

    /// The counters for the `/stats` page.
    pub(crate) fn stats_page(&self) -> Value {
        let state = lock(&self.state);
        let mut page = state.book.to_value(&state.tokens);
        page["origin"] = json!(self.origins.server);
        page
    }

    /// Rejects unauthorized requests to the MCP server, and serves the metadata of the resource.
    pub(crate) fn protect_resource(
        &self,
        request: &HttpRequest,
        wire: &HttpWire,
    ) -> io::Result<Option<ConnectionNext>> {
        if request.path == "/mcp" {
            let refusal = lock(&self.state).check_access(&self.origins, request);
            return refusal
                .map(|reply| OAuthDelivery::Whole.send_reply(wire, &self.origins, &reply))
                .transpose();
        }
        self.respond_to_path(request, wire)
    }

    /// Responds to a path of the authorization server; none for other paths.
    fn respond_to_path(&self, request: &HttpRequest, wire: &HttpWire) -> io::Result<Option<ConnectionNext>> {
        let (manner, reply) = {
            let mut state = lock(&self.state);
            match state.reply_to_path(&self.origins, request) {
                Some(answer) => answer,
                None => return Ok(None),
            }
        };
        manner.send_reply(wire, &self.origins, &reply).map(Some)
    }

    /// Responds on the authorization server's own origin.
    pub(crate) fn respond_on_own_origin(
        site: &TestSite,
        request: &HttpRequest,
        wire: &HttpWire,
    ) -> io::Result<ConnectionNext> {
        let Some(auth) = &site.auth else { return wire.write_text(404, "Not found") };
        if request.path == "/stats" {
            return wire.write_json(200, &[], &auth.stats_page());
        }
        site.record.log_received(request.to_json().to_string().as_bytes())?;
        match auth.respond_to_path(request, wire)? {
            Some(next) => Ok(next),
            None => wire.write_text(404, "Not found"),
        }
    }
}

impl State {
    /// The response of a path, and how it is delivered.
    fn reply_to_path(
        &mut self,
        origins: &ServerOrigins,
        request: &HttpRequest,
    ) -> Option<(OAuthDelivery, OAuthReply)> {
        if let Some(document) = metadata::find_document(&self.lies, origins, &request.path) {
            self.book.count_request(document.name);
            return Some((document.manner, OAuthReply::json(200, document.body)));
        }
        let prefix = self.lies.text(Lie::IssuerPath);
        let path = request.path.strip_prefix(prefix.as_str()).unwrap_or(&request.path);
        let whole = |reply| Some((OAuthDelivery::Whole, reply));
        match (request.method.as_str(), path) {
            ("GET", "/authorize") => {
                whole(self.reply_to_authorize(origins, &FormParameters::parse(request.query_text())))
            }
            ("POST", "/token") => Some(self.reply_to_token(origins, request)),
            ("POST", "/register") => whole(self.register_client(request)),
            ("POST", "/revoke") => whole(self.revoke_token(request)),
            ("POST", "/device_authorization") => whole(self.start_device_grant(origins, request)),
            ("GET", "/device") => whole(self.approve_device(&FormParameters::parse(request.query_text()))),
            ("POST", "/told") => whole(self.apply_lies(request)),
            ("POST", "/expire") => {
                self.tokens.expire_access();
                whole(OAuthReply::json(200, json!({})))
            }
            (_, path) => manner::redirect_hop(path).map(|reply| (OAuthDelivery::Whole, reply)),
        }
    }

    /// Sets new lies for a test, one per line.
    fn apply_lies(&mut self, request: &HttpRequest) -> OAuthReply {
        self.met = 0;
        let text = String::from_utf8_lossy(&request.body);
        match text.lines().try_for_each(|line| self.lies.add_lie(line)) {
            Ok(()) => OAuthReply::json(200, json!({})),
            Err(error) => OAuthReply::error(400, &error),
        }
    }

    fn revoke_token(&mut self, request: &HttpRequest) -> OAuthReply {
        let form = FormParameters::from_body(request);
        let shown = self.client_credentials(request, &form);
        self.book.count_request("revoke");
        self.book.store_parameters("revoke", form.to_value_with(&shown));
        self.tokens.revoke_token(form.parameter("token").unwrap_or_default());
        // RFC 7009, 2.2: revoking an unknown token succeeds.
        OAuthReply::json(200, json!({}))
    }
}
