//! A fake authorization server, and the door it keeps for the MCP server: right unless told to lie.
//!
//! It exists for faults, so it signs nothing and verifies no signature. All secrets it makes up begin with
//! `canary-`, so that a test can look for them where they must not be. What each path does is decided on plain
//! values under one lock; how the answer then travels is up to [`manner`].

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
use super::wire::Wire;
use super::{Next, Site};
use crate::lock::lock;
use crate::raw::Raw;
use book::Book;
use clients::Clients;
use device::Devices;
use form::Form;
use manner::Manner;
use mcparley_testkit::{Lie, Lies};
use proof::Proofs;
use serde_json::{Value, json};
use std::io;
use std::sync::Mutex;
use tokens::Tokens;

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Origins {
    /// Of the MCP server.
    pub(crate) resource: String,
    /// Of the authorization server.
    pub(crate) server: String,
    /// Where no request should ever arrive.
    pub(crate) other: String,
}

/// The server: what it was told, and what it remembers.
#[derive(Debug)]
pub(crate) struct Auth {
    origins: Origins,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lies: Lies,
    tokens: Tokens,
    clients: Clients,
    devices: Devices,
    proofs: Proofs,
    book: Book,
    /// Token requests that were met with a lie since the last one was told.
    met: u64,
}

/// An answer, before it is spoiled.
#[derive(Debug)]
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Value,
}

impl Reply {
    fn json(status: u16, body: Value) -> Self {
        Self { status, headers: vec![("Cache-Control", "no-store".to_owned())], body }
    }

    /// An OAuth error.
    fn error(status: u16, error: &str) -> Self {
        Self::json(status, json!({ "error": error, "error_description": "as the fake server sees it" }))
    }

    fn redirect(location: String) -> Self {
        Self { status: 302, headers: vec![("Location", location)], body: Value::Null }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn raw(&self) -> Raw {
        if self.body.is_null() { Raw::default() } else { Raw::from(&self.body) }
    }
}

impl Auth {
    pub(crate) fn new(lies: Lies, origins: Origins) -> Self {
        Self { origins, state: Mutex::new(State { lies, ..State::default() }) }
    }

    /// What it has counted, for the `/stats` page.
    pub(crate) fn figures(&self) -> Value {
        let state = lock(&self.state);
        let mut page = state.book.to_value(&state.tokens);
        page["origin"] = json!(self.origins.server);
        page
    }

    /// Refuses a request to the MCP server that has no right to it; answers what is known of the resource.
    pub(crate) fn keep_door(&self, request: &HttpRequest, wire: &Wire) -> io::Result<Option<Next>> {
        if request.path == "/mcp" {
            let refusal = lock(&self.state).refusal(&self.origins, request);
            return refusal.map(|reply| Manner::Whole.send(wire, &self.origins, &reply)).transpose();
        }
        self.answer(request, wire)
    }

    /// Answers a path of the authorization server, if it is one.
    fn answer(&self, request: &HttpRequest, wire: &Wire) -> io::Result<Option<Next>> {
        let (manner, reply) = {
            let mut state = lock(&self.state);
            match state.reply(&self.origins, request) {
                Some(answer) => answer,
                None => return Ok(None),
            }
        };
        manner.send(wire, &self.origins, &reply).map(Some)
    }

    /// The origin of the authorization server alone.
    pub(crate) fn respond(site: &Site, request: &HttpRequest, wire: &Wire) -> io::Result<Next> {
        let Some(auth) = &site.auth else { return wire.refuse(404, "Not found") };
        if request.path == "/stats" {
            return wire.json(200, &[], &auth.figures());
        }
        site.record.received(request.to_json().to_string().as_bytes())?;
        match auth.answer(request, wire)? {
            Some(next) => Ok(next),
            None => wire.refuse(404, "Not found"),
        }
    }
}

impl State {
    /// What a path gives, and how it travels.
    fn reply(&mut self, origins: &Origins, request: &HttpRequest) -> Option<(Manner, Reply)> {
        if let Some(document) = metadata::document(&self.lies, origins, &request.path) {
            self.book.request(document.name);
            return Some((document.manner, Reply::json(200, document.body)));
        }
        let prefix = self.lies.text(Lie::IssuerPath);
        let path = request.path.strip_prefix(prefix.as_str()).unwrap_or(&request.path);
        let whole = |reply| Some((Manner::Whole, reply));
        match (request.method.as_str(), path) {
            ("GET", "/authorize") => whole(self.authorize(origins, &Form::read(request.query_text()))),
            ("POST", "/token") => Some(self.token(origins, request)),
            ("POST", "/register") => whole(self.register(request)),
            ("POST", "/revoke") => whole(self.revoke(request)),
            ("POST", "/device_authorization") => whole(self.begin_device(origins, request)),
            ("GET", "/device") => whole(self.approve_device(&Form::read(request.query_text()))),
            ("POST", "/told") => whole(self.told(request)),
            ("POST", "/expire") => {
                self.tokens.expire_access();
                whole(Reply::json(200, json!({})))
            }
            (_, path) => manner::hop(path).map(|reply| (Manner::Whole, reply)),
        }
    }

    /// A test tells it something new, a line each.
    fn told(&mut self, request: &HttpRequest) -> Reply {
        self.met = 0;
        let text = String::from_utf8_lossy(&request.body);
        match text.lines().try_for_each(|line| self.lies.tell(line)) {
            Ok(()) => Reply::json(200, json!({})),
            Err(error) => Reply::error(400, &error),
        }
    }

    fn revoke(&mut self, request: &HttpRequest) -> Reply {
        let form = Form::of_body(request);
        let shown = self.identify(request, &form);
        self.book.request("revoke");
        self.book.keep("revoke", form.to_value_with(&shown));
        self.tokens.revoke(form.get("token").unwrap_or_default());
        // RFC 7009, 2.2: a token that is not known is revoked too.
        Reply::json(200, json!({}))
    }
}
