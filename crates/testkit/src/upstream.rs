//! An upstream server for the official conformance suite, in both protocol eras: the tools, prompts and
//! resources that the scenarios name, the tasks extension and the skills extension.
//!
//! Unlike the scripted servers it has no faults. It stands behind the gateway, so that the suite measures the
//! gateway, and is measured without it first. Listens on loopback and ends when stdin does.

mod clock;
mod inputs;
mod new_era;
mod old_era;
mod rpc;
mod scope;
mod seal;
mod skills;
mod surface;
mod tasks;
mod tools;

use crate::http::ConnectionNext;
use crate::http::request::HttpRequest;
use crate::http::wire::HttpWire;
use crate::life;
use crate::lock::lock;
use crate::options::{NEW, OLD};
use new_era::Subscription;
use old_era::UpstreamSession;
use rpc::{RpcFailure, meta_key};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use surface::{CHANGES, UpstreamSurface};

pub(crate) const INSTRUCTIONS: &str = "An upstream server for conformance tests.";

/// The eras that the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eras {
    Both,
    Old,
    New,
}

/// The options of the server.
#[derive(Debug)]
pub(crate) struct UpstreamOptions {
    eras: Eras,
    port: u16,
}

/// The state shared by all connections.
#[derive(Debug)]
pub(crate) struct UpstreamSite {
    eras: Eras,
    surface: UpstreamSurface,
    /// The sessions by name; one that ended is none.
    sessions: Mutex<HashMap<String, Option<Arc<UpstreamSession>>>>,
    subscriptions: Mutex<Vec<Subscription>>,
}

impl UpstreamOptions {
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, String> {
        let mut options = Self { eras: Eras::Both, port: 0 };
        let mut rest = arguments.iter().map(|argument| argument.to_string_lossy());
        while let Some(option) = rest.next() {
            let value = rest.next().ok_or_else(|| format!("`{option}` needs a value"))?;
            match (option.as_ref(), value.as_ref()) {
                ("--era", "both") => options.eras = Eras::Both,
                ("--era", "old") => options.eras = Eras::Old,
                ("--era", "new") => options.eras = Eras::New,
                ("--port", port) => options.port = port.parse().map_err(|_| "`--port` is not a port")?,
                _ => return Err(format!("unknown option `{option} {value}`")),
            }
        }
        Ok(options)
    }
}

/// Serves until stdin ends.
pub(crate) fn serve_upstream(options: &UpstreamOptions) -> io::Result<()> {
    life::limit_lifetime()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
    let address = listener.local_addr()?;
    let site = Arc::new(UpstreamSite {
        eras: options.eras,
        surface: UpstreamSurface::new(),
        sessions: Mutex::default(),
        subscriptions: Mutex::default(),
    });
    let accept = move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let site = Arc::clone(&site);
            // An I/O error on one connection does not affect the others.
            thread::spawn(move || serve_connection(&site, stream).unwrap_or_default());
        }
    };
    thread::Builder::new().name("accept".to_owned()).spawn(accept)?;
    let mut out = io::stdout().lock();
    writeln!(out, "listening http://{address}/mcp")?;
    out.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

fn serve_connection(site: &Arc<UpstreamSite>, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let wire = HttpWire::new(stream);
    while let Some(request) = HttpRequest::read_next(&mut reader)? {
        let next = site.respond_to_request(&request, &wire)?;
        if next != ConnectionNext::Keep || request.is_last() {
            break;
        }
    }
    wire.close()
}

impl UpstreamSite {
    fn respond_to_request(
        self: &Arc<Self>,
        request: &HttpRequest,
        wire: &HttpWire,
    ) -> io::Result<ConnectionNext> {
        if !is_local(request.header("host")) || !is_local(request.header("origin")) {
            let refused = RpcFailure::new(-32000, "`Host` or `Origin` is not allowed");
            return wire.write_json(403, &[], &refused.to_answer(&Value::Null));
        }
        match (request.path.as_str(), request.method.as_str()) {
            ("/mcp", "POST") => self.respond_to_post(request, wire),
            ("/mcp", "GET") if self.eras != Eras::New => old_era::serve_get(self, request, wire),
            ("/mcp", "DELETE") if self.eras != Eras::New => old_era::end_session(self, request, wire),
            ("/mcp", _) => wire.write_text(405, "method not allowed"),
            _ => wire.write_text(404, "not found"),
        }
    }

    fn respond_to_post(
        self: &Arc<Self>,
        request: &HttpRequest,
        wire: &HttpWire,
    ) -> io::Result<ConnectionNext> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            let failure = RpcFailure::new(-32700, "parse error");
            return wire.write_json(400, &[], &failure.to_answer(&Value::Null));
        };
        let header = request.header("mcp-protocol-version");
        let version = &message["params"]["_meta"][meta_key("protocolVersion")];
        let is_new = !version.is_null()
            || message["method"] == "server/discover"
            || header.is_some_and(|header| !OLD.contains(&header));
        match (is_new, self.eras) {
            (true, _) => new_era::answer_post(self, request, &message, wire),
            (false, Eras::New) => {
                let requested = message["params"]["protocolVersion"].as_str().or(header).unwrap_or_default();
                let data = json!({ "supported": [NEW], "requested": requested });
                let failure = RpcFailure::new(-32022, "unsupported protocol version").with_data(data);
                wire.write_json(400, &[], &failure.to_answer(&message["id"]))
            }
            (false, Eras::Both | Eras::Old) => old_era::answer_post(self, request, &message, wire),
        }
    }

    /// Tells all clients about the change that a tool made.
    fn publish_change(&self, method: &str, params: &Value) {
        let changed = CHANGES.iter().find(|(name, _)| method == "tools/call" && params["name"] == *name);
        let Some((_, list)) = changed else { return };
        lock(&self.subscriptions).retain(|subscription| subscription.publish(list));
        let message = json!({ "jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed") });
        for session in lock(&self.sessions).values().flatten() {
            session.publish(message.clone());
        }
    }
}

/// Whether a header is missing or names the loopback host.
fn is_local(header: Option<&str>) -> bool {
    let Some(value) = header else { return true };
    let authority = value.split_once("://").map_or(value, |(_, rest)| rest);
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

pub(crate) fn server_info() -> Value {
    json!({ "name": "upstream", "version": "1.0.0" })
}
