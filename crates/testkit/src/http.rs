//! Serves MCP over HTTP: Streamable HTTP and WebSocket written by hand, because no library sends invalid
//! data.
//!
//! One thread per connection. Listens on loopback only, and ends when stdin does.

mod admission;
mod auth;
mod connectors;
mod delivery;
mod doors;
mod instead;
mod legacy;
mod post;
pub(crate) mod request;
mod sessions;
mod socket;
mod stats;
mod stream;
pub(crate) mod wire;

use crate::life;
use crate::options::Options;
use crate::record::{ProtocolRecord, ReceiveLog};
use crate::server::ScriptedServer;
use auth::{FakeAuthServer, ServerOrigins};
use mcparley_testkit::Name;
use request::HttpRequest;
use serde_json::Value;
use sessions::LiveSessions;
use stats::SiteStats;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use wire::HttpWire;

/// The state shared by all connections.
#[derive(Debug)]
pub(crate) struct TestSite {
    server: ScriptedServer,
    record: ReceiveLog,
    protocol: ProtocolRecord,
    sessions: LiveSessions,
    stats: SiteStats,
    /// The authorization server, if one protects the endpoint.
    auth: Option<FakeAuthServer>,
    /// The origin of the MCP server, `http://127.0.0.1:<port>`.
    origin: String,
    /// A second origin of this process, which should never receive a request.
    other_origin: String,
    /// Whether the fault of a one-time script has already happened.
    spent: AtomicBool,
}

/// The next step for a connection after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionNext {
    Keep,
    Close,
    /// The connection has become a WebSocket.
    Socket,
}

/// Serves until stdin ends.
pub(crate) fn serve_http(options: Options) -> io::Result<()> {
    life::limit_lifetime()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
    let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let origin = |listener: &TcpListener| listener.local_addr().map(|address| format!("http://{address}"));
    let origins =
        ServerOrigins { resource: origin(&listener)?, server: origin(&door)?, other: origin(&other)? };
    let site = Arc::new(TestSite {
        auth: options.lies.clone().map(|lies| FakeAuthServer::new(lies, origins)),
        record: ReceiveLog::open(&options)?,
        protocol: ProtocolRecord::open(&options),
        server: ScriptedServer::new(options),
        sessions: LiveSessions::default(),
        stats: SiteStats::default(),
        origin: origin(&listener)?,
        other_origin: origin(&other)?,
        spent: AtomicBool::new(false),
    });
    spawn_acceptor(&site, listener, TestSite::respond_to_request)?;
    spawn_acceptor(&site, other, TestSite::respond_on_other_origin)?;
    spawn_acceptor(&site, door, |site, request, wire| {
        FakeAuthServer::respond_on_own_origin(site, request, wire)
    })?;
    let mut out = io::stdout().lock();
    writeln!(out, "listening {}/mcp", site.origin)?;
    out.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

type RespondFn = fn(&Arc<TestSite>, &HttpRequest, &Arc<HttpWire>) -> io::Result<ConnectionNext>;

fn spawn_acceptor(site: &Arc<TestSite>, listener: TcpListener, respond: RespondFn) -> io::Result<()> {
    let site = Arc::clone(site);
    let run = move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let site = Arc::clone(&site);
            let talk = move || {
                // An I/O error on one connection does not affect the others.
                serve_connection(&site, stream, respond).unwrap_or_default();
            };
            thread::spawn(talk);
        }
    };
    thread::Builder::new().name("accept".to_owned()).spawn(run).map(drop)
}

fn serve_connection(site: &Arc<TestSite>, stream: TcpStream, respond: RespondFn) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let _open = site.stats.count_connection();
    let mut reader = BufReader::new(stream.try_clone()?);
    let wire = Arc::new(HttpWire::new(stream));
    while let Some(request) = HttpRequest::read_next(&mut reader)? {
        let next = respond(site, &request, &wire)?;
        if next == ConnectionNext::Socket {
            socket::serve_socket(site, &mut reader, &wire)?;
            break;
        }
        if next == ConnectionNext::Close || request.is_last() {
            break;
        }
    }
    wire.close()
}

impl TestSite {
    fn respond_to_request(
        self: &Arc<Self>,
        request: &HttpRequest,
        wire: &Arc<HttpWire>,
    ) -> io::Result<ConnectionNext> {
        if request.path == "/stats" {
            return wire.write_json(200, &[], &self.stats_page());
        }
        self.record.log_received(request.to_json().to_string().as_bytes())?;
        if let Some(next) = instead::fault_for_any_request(self, request, wire)? {
            return Ok(next);
        }
        if let Some(auth) = &self.auth
            && let Some(next) = auth.protect_resource(request, wire)?
        {
            return Ok(next);
        }
        if socket::is_upgrade_request(request) {
            return socket::answer_upgrade(self, request, wire);
        }
        if let Some(next) = connectors::serve_catalog(self, request, wire)? {
            return Ok(next);
        }
        let legacy = self.server.options.scripts.text(Name::LegacySseOnly);
        match (request.method.as_str(), connectors::endpoint_path(self, &request.path), legacy) {
            ("GET", "/mcp", Some(endpoint)) => legacy::serve_stream(self, wire, endpoint),
            ("POST", "/messages", Some(_)) => legacy::accept_message(self, request, wire),
            (_, "/mcp", Some(_)) => wire.write_text(405, "Method not allowed"),
            ("POST", "/mcp" | "/moved", None) => post::handle_post(self, request, wire),
            ("GET", "/mcp" | "/moved", None) => stream::serve_get_stream(self, request, wire),
            ("DELETE", "/mcp" | "/moved", None) => self.end_session(request, wire),
            (_, "/mcp" | "/moved", None) => wire.write_text(405, "Method not allowed"),
            _ => wire.write_text(404, "Not found"),
        }
    }

    /// Adds the body of a POST to the protocol record: its revision is that of the header or of the session.
    fn record_post(&self, request: &HttpRequest) {
        let header = request.header("mcp-protocol-version").map(str::to_owned);
        let session = || request.header("mcp-session-id").and_then(|id| self.sessions.version(id));
        self.protocol.add_message(&self.server.options, header.or_else(session).as_deref(), &request.body);
    }

    /// Responds on the second origin, which only counts its requests.
    fn respond_on_other_origin(
        self: &Arc<Self>,
        request: &HttpRequest,
        wire: &Arc<HttpWire>,
    ) -> io::Result<ConnectionNext> {
        self.record.log_received(request.to_json().to_string().as_bytes())?;
        self.stats.count_event("otherOrigin");
        wire.write_text(404, "Not found")
    }

    fn end_session(&self, request: &HttpRequest, wire: &HttpWire) -> io::Result<ConnectionNext> {
        self.stats.count_event("delete");
        if self.server.options.old_era_versions().next().is_none() {
            return wire.write_text(405, "Method not allowed");
        }
        match request.header("mcp-session-id").map(|id| self.sessions.end_session(id)) {
            Some(true) => wire.write_empty(200),
            Some(false) => wire.write_text(404, "Session not found"),
            None => wire.write_text(400, "Mcp-Session-Id is missing"),
        }
    }

    fn stats_page(&self) -> Value {
        let calls = &self.server.calls;
        self.stats.to_value([
            ("executions", calls.execution_counts()),
            ("cancelled", calls.canceled_ids()),
            ("sessions", self.sessions.count()),
            ("auth", self.auth.as_ref().map(FakeAuthServer::stats_page).unwrap_or_default()),
        ])
    }
}
