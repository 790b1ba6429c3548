//! The revisions with a handshake over HTTP: sessions, resumable streams, requests to the client.
//!
//! Each stream is a log; the POST that opened it and a GET that resumes it both follow the log from a position.

use super::UpstreamSite;
use super::rpc::{RpcFailure, RpcOutcome, answer_message};
use super::scope::{ClientChannel, Era, RequestScope};
use super::surface::UpstreamSurface;
use crate::http::ConnectionNext;
use crate::http::request::HttpRequest;
use crate::http::wire::HttpWire;
use crate::lock::lock;
use crate::options::OLD;
use crate::raw::RawBytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval at which a stream checks whether its client is still connected.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a client has for an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The stream for messages outside of requests.
const SHARED: &str = "get";

/// One session.
#[derive(Debug)]
pub(crate) struct UpstreamSession {
    version: String,
    capabilities: Value,
    log: Mutex<SessionLog>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SessionLog {
    streams: HashMap<String, StreamLog>,
    /// The requests to the client without an answer.
    pending: HashMap<String, Sender<Value>>,
    counter: u64,
    has_ended: bool,
}

#[derive(Debug, Default)]
struct StreamLog {
    messages: Vec<Value>,
    hang_ups: u32,
    is_complete: bool,
}

impl UpstreamSession {
    fn append(&self, stream: &str, message: Value, is_complete: bool) {
        let mut log = lock(&self.log);
        let stream = log.streams.entry(stream.to_owned()).or_default();
        stream.messages.push(message);
        stream.is_complete = is_complete;
        self.changed.notify_all();
    }

    /// Publishes a notification outside of requests.
    pub(crate) fn publish(&self, message: Value) {
        self.append(SHARED, message, false);
    }

    fn end(&self) {
        lock(&self.log).has_ended = true;
        self.changed.notify_all();
    }

    /// Writes the messages of a stream from a position until it is complete or hung up, or the client is gone.
    fn follow_stream(&self, name: &str, from: usize, wire: &HttpWire) -> io::Result<ConnectionNext> {
        let mut position = from;
        let mut log = lock(&self.log);
        let hang_ups = log.streams.entry(name.to_owned()).or_default().hang_ups;
        loop {
            let stream = log.streams.entry(name.to_owned()).or_default();
            let fresh: Vec<Value> = stream.messages.iter().skip(position).cloned().collect();
            let is_over = stream.is_complete || stream.hang_ups != hang_ups || log.has_ended;
            drop(log);
            for message in fresh {
                position += 1;
                let event = format!("id: {name}_{position}\nevent: message\ndata: {message}\n\n");
                wire.write_chunk(&RawBytes::new(event))?;
            }
            if is_over {
                return wire.end_stream();
            }
            if wire.is_closed_within(Duration::ZERO) {
                return Ok(ConnectionNext::Close);
            }
            let waited = self.changed.wait_timeout(lock(&self.log), LOOK);
            log = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The stream of one call.
struct CallStream {
    session: Arc<UpstreamSession>,
    name: String,
}

impl ClientChannel for CallStream {
    fn notify(&self, message: &Value) {
        self.session.append(&self.name, message.clone(), false);
    }

    fn ask(&self, request: &Value) -> RpcOutcome {
        let (answers, waiting) = channel();
        let mut log = lock(&self.session.log);
        log.counter += 1;
        let id = format!("ask-{}", log.counter);
        log.pending.insert(id.clone(), answers);
        drop(log);
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        message["method"] = request["method"].clone();
        message["params"] = request["params"].clone();
        self.notify(&message);
        let answer = waiting.recv_timeout(ANSWER);
        let mut answer = answer.map_err(|_| RpcFailure::new(-32603, "the client did not answer"))?;
        match answer["error"].take() {
            Value::Null => Ok(answer["result"].take()),
            error => {
                let message = error["message"].as_str().unwrap_or_default();
                Err(RpcFailure::new(error["code"].as_i64().unwrap_or(-32603), message))
            }
        }
    }

    fn hang_up(&self) {
        lock(&self.session.log).streams.entry(self.name.clone()).or_default().hang_ups += 1;
        self.session.changed.notify_all();
    }
}

/// Answers one message of the old era.
pub(crate) fn answer_post(
    site: &Arc<UpstreamSite>,
    request: &HttpRequest,
    message: &Value,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let (id, params) = (&message["id"], &message["params"]);
    let method = message["method"].as_str();
    if method == Some("initialize") {
        return open_session(site, id, params, wire);
    }
    let session = match find_session(site, request) {
        Ok(session) => session,
        Err(status) => {
            return wire.write_json(status, &[], &RpcFailure::new(-32001, "no such session").to_answer(id));
        }
    };
    let Some(method) = method else {
        let waiting = id.as_str().and_then(|id| lock(&session.log).pending.remove(id));
        // An answer that comes too late has no receiver.
        waiting.map_or(Ok(()), |waiting| waiting.send(message.clone())).unwrap_or_default();
        return wire.write_empty(202);
    };
    if id.is_null() {
        return wire.write_empty(202);
    }
    match method {
        "tools/call" => stream_call(site, &session, message, wire),
        _ => {
            let channel = CallStream { session: Arc::clone(&session), name: SHARED.to_owned() };
            let capabilities = &session.capabilities;
            let scope = RequestScope { era: Era::Old, params, capabilities, channel: &channel };
            let outcome = match method {
                "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                    Ok(json!({}))
                }
                _ => site.surface.answer(method, &scope),
            };
            wire.write_json(200, &[], &answer_message(id, &outcome))
        }
    }
}

fn open_session(
    site: &UpstreamSite,
    id: &Value,
    params: &Value,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let wanted = params["protocolVersion"].as_str().unwrap_or_default();
    let version = OLD.into_iter().find(|known| *known == wanted).unwrap_or(OLD[0]).to_owned();
    let session = UpstreamSession {
        version: version.clone(),
        capabilities: params["capabilities"].clone(),
        log: Mutex::default(),
        changed: Condvar::new(),
    };
    let mut sessions = lock(&site.sessions);
    let name = format!("session-{}-{}", std::process::id(), sessions.len() + 1);
    sessions.insert(name.clone(), Some(Arc::new(session)));
    drop(sessions);
    let result = json!({
        "protocolVersion": version,
        "capabilities": UpstreamSurface::capabilities(Era::Old),
        "serverInfo": super::server_info(),
        "instructions": super::INSTRUCTIONS,
    });
    wire.write_json(200, &[("Mcp-Session-Id", &name)], &answer_message(id, &Ok(result)))
}

/// The session of a request, or the status of the refusal.
fn find_session(site: &UpstreamSite, request: &HttpRequest) -> Result<Arc<UpstreamSession>, u16> {
    let name = request.header("mcp-session-id").ok_or(400_u16)?;
    lock(&site.sessions).get(name).cloned().flatten().ok_or(404)
}

/// Runs a call on a thread of its own and follows its stream.
fn stream_call(
    site: &Arc<UpstreamSite>,
    session: &Arc<UpstreamSession>,
    message: &Value,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let mut log = lock(&session.log);
    log.counter += 1;
    let name = format!("call{}", log.counter);
    drop(log);
    wire.begin_stream(&[])?;
    // Revisions before this one have no empty events.
    if session.version.as_str() >= "2025-11-25" {
        wire.write_chunk(&RawBytes::new(format!("id: {name}_0\nretry: 500\ndata: \n\n")))?;
    }
    let (site, owned, message, stream) =
        (Arc::clone(site), Arc::clone(session), message.clone(), name.clone());
    thread::spawn(move || {
        let channel = CallStream { session: Arc::clone(&owned), name: stream.clone() };
        let (params, capabilities) = (&message["params"], &owned.capabilities);
        let scope = RequestScope { era: Era::Old, params, capabilities, channel: &channel };
        let outcome = site.surface.answer("tools/call", &scope);
        site.publish_change("tools/call", params);
        owned.append(&stream, answer_message(&message["id"], &outcome), true);
    });
    session.follow_stream(&name, 0, wire)
}

/// Serves the GET stream, or resumes the stream that `Last-Event-ID` names.
pub(crate) fn serve_get(
    site: &UpstreamSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let session = match find_session(site, request) {
        Ok(session) => session,
        Err(status) => return wire.write_text(status, "no such session"),
    };
    let last = request.header("last-event-id").and_then(|last| last.rsplit_once('_'));
    let (name, position) = last.unwrap_or((SHARED, "0"));
    wire.begin_stream(&[])?;
    session.follow_stream(name, position.parse().unwrap_or_default(), wire)
}

/// Ends a session; its name stays known, so that it is never used again.
pub(crate) fn end_session(
    site: &UpstreamSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    match find_session(site, request) {
        Ok(session) => {
            session.end();
            let name = request.header("mcp-session-id").unwrap_or_default();
            lock(&site.sessions).insert(name.to_owned(), None);
            wire.write_empty(200)
        }
        Err(status) => wire.write_text(status, "no such session"),
    }
}
