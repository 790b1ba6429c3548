//! The server behind a URL: Streamable HTTP and WebSocket by hand, because no library would send what is wrong.
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
mod request;
mod sessions;
mod socket;
mod stats;
mod stream;
mod wire;

use crate::life;
use crate::options::Options;
use crate::record::Record;
use crate::server::Server;
use auth::{Auth, Origins};
use mcparley_testkit::Name;
use request::HttpRequest;
use serde_json::Value;
use sessions::Sessions;
use stats::Stats;
use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use wire::Wire;

/// Everything the connections share.
#[derive(Debug)]
pub(crate) struct Site {
    server: Server,
    record: Record,
    sessions: Sessions,
    stats: Stats,
    /// The authorization server, if one keeps the door.
    auth: Option<Auth>,
    /// `http://127.0.0.1:<port>`.
    origin: String,
    /// A second origin of ours, where no request should ever arrive.
    other_origin: String,
    /// Whether what happens only once has happened.
    spent: AtomicBool,
}

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Keep,
    Close,
    /// It has become a WebSocket.
    Socket,
}

/// Serves until stdin ends.
pub(crate) fn serve(options: Options) -> io::Result<()> {
    life::limit()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
    let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let origin = |listener: &TcpListener| listener.local_addr().map(|address| format!("http://{address}"));
    let origins = Origins { resource: origin(&listener)?, server: origin(&door)?, other: origin(&other)? };
    let site = Arc::new(Site {
        auth: options.lies.clone().map(|lies| Auth::new(lies, origins)),
        record: Record::open(&options)?,
        server: Server::new(options),
        sessions: Sessions::default(),
        stats: Stats::default(),
        origin: origin(&listener)?,
        other_origin: origin(&other)?,
        spent: AtomicBool::new(false),
    });
    accept(&site, listener, Site::respond)?;
    accept(&site, other, Site::respond_elsewhere)?;
    accept(&site, door, |site, request, wire| Auth::respond(site, request, wire))?;
    let mut out = io::stdout().lock();
    writeln!(out, "listening {}/mcp", site.origin)?;
    out.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

type Respond = fn(&Arc<Site>, &HttpRequest, &Arc<Wire>) -> io::Result<Next>;

fn accept(site: &Arc<Site>, listener: TcpListener, respond: Respond) -> io::Result<()> {
    let site = Arc::clone(site);
    let run = move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let site = Arc::clone(&site);
            let talk = move || {
                // A connection that breaks concerns nobody else.
                converse(&site, stream, respond).unwrap_or_default();
            };
            thread::spawn(talk);
        }
    };
    thread::Builder::new().name("accept".to_owned()).spawn(run).map(drop)
}

fn converse(site: &Arc<Site>, stream: TcpStream, respond: Respond) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let _open = site.stats.open();
    let mut reader = BufReader::new(stream.try_clone()?);
    let wire = Arc::new(Wire::new(stream));
    while let Some(request) = HttpRequest::read(&mut reader)? {
        let next = respond(site, &request, &wire)?;
        if next == Next::Socket {
            socket::serve(site, &mut reader, &wire)?;
            break;
        }
        if next == Next::Close || request.is_last() {
            break;
        }
    }
    wire.close()
}

impl Site {
    fn respond(self: &Arc<Self>, request: &HttpRequest, wire: &Arc<Wire>) -> io::Result<Next> {
        if request.path == "/stats" {
            return wire.json(200, &[], &self.figures());
        }
        self.record.received(request.to_json().to_string().as_bytes())?;
        if let Some(next) = instead::of_everything(self, request, wire)? {
            return Ok(next);
        }
        if let Some(auth) = &self.auth
            && let Some(next) = auth.keep_door(request, wire)?
        {
            return Ok(next);
        }
        if socket::is_wanted(request) {
            return socket::answer(self, request, wire);
        }
        if let Some(next) = connectors::catalogue(self, request, wire)? {
            return Ok(next);
        }
        let legacy = self.server.options.scripts.text(Name::LegacySseOnly);
        match (request.method.as_str(), connectors::endpoint(self, &request.path), legacy) {
            ("GET", "/mcp", Some(endpoint)) => legacy::stream(self, wire, endpoint),
            ("POST", "/messages", Some(_)) => legacy::message(self, request, wire),
            (_, "/mcp", Some(_)) => wire.refuse(405, "Method not allowed"),
            ("POST", "/mcp" | "/moved", None) => post::take(self, request, wire),
            ("GET", "/mcp" | "/moved", None) => stream::listen(self, request, wire),
            ("DELETE", "/mcp" | "/moved", None) => self.end_session(request, wire),
            (_, "/mcp" | "/moved", None) => wire.refuse(405, "Method not allowed"),
            _ => wire.refuse(404, "Not found"),
        }
    }

    /// The second origin: it only notes that somebody came.
    fn respond_elsewhere(self: &Arc<Self>, request: &HttpRequest, wire: &Arc<Wire>) -> io::Result<Next> {
        self.record.received(request.to_json().to_string().as_bytes())?;
        self.stats.count("otherOrigin");
        wire.refuse(404, "Not found")
    }

    fn end_session(&self, request: &HttpRequest, wire: &Wire) -> io::Result<Next> {
        self.stats.count("delete");
        if self.server.options.old().next().is_none() {
            return wire.refuse(405, "Method not allowed");
        }
        match request.header("mcp-session-id").map(|id| self.sessions.end(id)) {
            Some(true) => wire.empty(200),
            Some(false) => wire.refuse(404, "Session not found"),
            None => wire.refuse(400, "Mcp-Session-Id is missing"),
        }
    }

    fn figures(&self) -> Value {
        let calls = &self.server.calls;
        self.stats.to_value([
            ("executions", calls.executions()),
            ("cancelled", calls.cancelled()),
            ("sessions", self.sessions.count()),
            ("auth", self.auth.as_ref().map(Auth::figures).unwrap_or_default()),
        ])
    }
}
