//! Serves MCP over WebSocket, at the same URL as over HTTP.
//!
//! One thread reads; calls are executed by their own threads, so that they can be canceled and finish out of
//! order.

mod frame;
mod handshake;
mod reply;

use super::TestSite;
use super::wire::HttpWire;
use crate::life;
use crate::lock::lock;
use crate::message::ClientMessage;
use crate::raw::RawBytes;
use crate::record::agreed_revision;
use crate::server::{MessageSink, Request, RpcRefusal, ScriptedCall, ServerAnswer};
use frame::{CLOSE, LAST, PING, PONG, TEXT, WebSocketFrame};
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub(crate) use handshake::{answer_upgrade, is_upgrade_request};

/// The timeout for a pong.
const PATIENCE: Duration = Duration::from_secs(10);

/// The WebSocket connection of one client.
struct SocketConnection {
    site: Arc<TestSite>,
    wire: Arc<HttpWire>,
    /// Separates the request ids of this client from those of others.
    scope: String,
    /// The channel of a pending ping.
    pong: Mutex<Option<Sender<Vec<u8>>>>,
    /// The revision that the client and the server have agreed on.
    agreed: Mutex<Option<String>>,
}

/// Serves messages until the client disconnects.
pub(crate) fn serve_socket(
    site: &Arc<TestSite>,
    reader: &mut impl Read,
    wire: &Arc<HttpWire>,
) -> io::Result<()> {
    let socket = SocketConnection {
        site: Arc::clone(site),
        wire: Arc::clone(wire),
        scope: format!("{:p}", Arc::as_ptr(wire)),
        pong: Mutex::default(),
        agreed: Mutex::default(),
    };
    let socket = Arc::new(socket);
    let deaf = site.server.options.scripts.text(Name::WsDeaf).unwrap_or_default();
    let mut greeted = false;
    while let Some(frame) = WebSocketFrame::read_next(reader)? {
        site.record.log_received(log_entry(&frame).to_string().as_bytes())?;
        match frame.kind {
            TEXT => socket.handle_message(&frame.payload, &mut greeted)?,
            PING if deaf != "pings" => {
                wire.write_bytes(&frame::encode_frame(LAST | PONG, &RawBytes::new(frame.payload)))?
            }
            PONG => socket.deliver_pong(frame.payload),
            CLOSE if deaf == "close" => {
                wire.is_closed_within(life::LIFE);
            }
            CLOSE => {
                return wire.write_bytes(&frame::encode_frame(LAST | CLOSE, &RawBytes::new(frame.payload)));
            }
            _ => {}
        }
        if greeted && deaf == "everything" {
            wire.is_closed_within(life::LIFE);
        }
    }
    Ok(())
}

/// The frame as a line of the log.
fn log_entry(frame: &WebSocketFrame) -> Value {
    let code = match (frame.kind, frame.payload.as_slice()) {
        (CLOSE, [high, low, ..]) => json!(u16::from_be_bytes([*high, *low])),
        _ => Value::Null,
    };
    json!({ "frame": frame.kind, "code": code, "body": String::from_utf8_lossy(&frame.payload) })
}

/// A request that is being executed.
struct SocketCall {
    message: ClientMessage,
    method: String,
    id: Value,
    greeted: bool,
    running: ScriptedCall,
}

impl SocketConnection {
    fn handle_message(self: &Arc<Self>, text: &[u8], greeted: &mut bool) -> io::Result<()> {
        let message = self.record_message(text);
        let Some(message) = message else {
            let refusal = RpcRefusal::new(-32700, "Parse error").to_message(Some(&Value::Null));
            return self.send_lines(refusal.to_string().as_bytes());
        };
        self.site.stats.count_post(message.method());
        let (Some(method), Some(id)) = (message.method().map(str::to_owned), message.id().cloned()) else {
            self.site.server.handle_notification(&message, &self.scope);
            return Ok(());
        };
        let running = self.site.server.calls.register_call(&self.scope, &id);
        let work = SocketCall { running, message, method, id, greeted: *greeted };
        if matches!(work.method.as_str(), "initialize" | "server/discover") {
            *greeted = true;
            return self.execute_call(&work);
        }
        let socket = Arc::clone(self);
        let run = move || {
            // A write error means that the client has disconnected.
            socket.execute_call(&work).unwrap_or_default();
        };
        thread::Builder::new().name("call".to_owned()).spawn(run).map(drop)
    }

    /// Adds a message to the protocol record, and parses it.
    fn record_message(&self, text: &[u8]) -> Option<ClientMessage> {
        let options = &self.site.server.options;
        let mut agreed = lock(&self.agreed);
        self.site.protocol.add_message(options, agreed.as_deref(), text);
        let message = ClientMessage::parse(text)?;
        if let Some(revision) = agreed_revision(options, &message) {
            *agreed = Some(revision);
        }
        Some(message)
    }

    fn execute_call(self: &Arc<Self>, work: &SocketCall) -> io::Result<()> {
        let due = self.site.server.claim_faults(&work.method);
        let out: Arc<dyn MessageSink> = Arc::clone(self) as Arc<dyn MessageSink>;
        let request = Request {
            message: &work.message,
            method: &work.method,
            id: &work.id,
            due,
            has_handshake: work.greeted,
            running: &work.running,
            out: &out,
        };
        if due.has(Name::WsPing) {
            self.ping_client()?;
        }
        match self.site.server.answer_request(&request)? {
            ServerAnswer::Silence | ServerAnswer::Cancelled => Ok(()),
            ServerAnswer::Reply(reply) => reply::send_reply(&self.wire, &reply, due),
        }
    }

    /// Sends a ping and waits for its pong.
    fn ping_client(&self) -> io::Result<()> {
        let (sender, pongs) = channel();
        *lock(&self.pong) = Some(sender);
        self.wire.write_bytes(&frame::encode_frame(LAST | PING, &RawBytes::new("there?")))?;
        match pongs.recv_timeout(PATIENCE) {
            Ok(payload) if payload == b"there?" => Ok(()),
            Ok(_) | Err(_) => Err(io::Error::other("no pong, or another")),
        }
    }

    fn deliver_pong(&self, payload: Vec<u8>) {
        if let Some(sender) = lock(&self.pong).take() {
            // A closed channel means that the ping has timed out.
            sender.send(payload).unwrap_or_default();
        }
    }
}

impl MessageSink for SocketConnection {
    fn send_lines(&self, lines: &[u8]) -> io::Result<()> {
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let frames: io::Result<Vec<_>> =
            lines.map(|line| frame::encode_frame(LAST | TEXT, &RawBytes::new(line)).to_vec()).collect();
        self.wire.write_bytes(&RawBytes::new(frames?.concat()))
    }

    /// A request is canceled by a notification or by the end of the connection.
    fn is_closed(&self) -> bool {
        self.wire.is_closed_within(Duration::ZERO)
    }
}
