//! The server behind a WebSocket, at the same URL as the one over HTTP.
//!
//! One thread reads; calls are worked on by threads of their own, so that they can be cancelled and overtake each
//! other.

mod frame;
mod handshake;
mod reply;

use super::Site;
use super::wire::Wire;
use crate::life;
use crate::lock::lock;
use crate::message::Message;
use crate::raw::Raw;
use crate::server::{Answer, Out, Refusal, Request, Running};
use frame::{CLOSE, Frame, LAST, PING, PONG, TEXT};
use mcparley_testkit::Name;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub(crate) use handshake::{answer, is_wanted};

/// How long the server waits for a pong.
const PATIENCE: Duration = Duration::from_secs(10);

/// One client.
struct Socket {
    site: Arc<Site>,
    wire: Arc<Wire>,
    /// Keeps its requests apart from those of others.
    scope: String,
    /// Who waits for a pong.
    pong: Mutex<Option<Sender<Vec<u8>>>>,
}

/// Talks until the client goes.
pub(crate) fn serve(site: &Arc<Site>, reader: &mut impl Read, wire: &Arc<Wire>) -> io::Result<()> {
    let socket = Socket {
        site: Arc::clone(site),
        wire: Arc::clone(wire),
        scope: format!("{:p}", Arc::as_ptr(wire)),
        pong: Mutex::default(),
    };
    let socket = Arc::new(socket);
    let deaf = site.server.options.scripts.text(Name::WsDeaf).unwrap_or_default();
    let mut greeted = false;
    while let Some(frame) = Frame::read(reader)? {
        site.record.received(noted(&frame).to_string().as_bytes())?;
        match frame.kind {
            TEXT => socket.take(&frame.payload, &mut greeted)?,
            PING if deaf != "pings" => wire.write(&frame::framed(LAST | PONG, &Raw::new(frame.payload)))?,
            PONG => socket.hear(frame.payload),
            CLOSE if deaf == "close" => {
                wire.is_gone_within(life::LIFE);
            }
            CLOSE => return wire.write(&frame::framed(LAST | CLOSE, &Raw::new(frame.payload))),
            _ => {}
        }
        if greeted && deaf == "everything" {
            wire.is_gone_within(life::LIFE);
        }
    }
    Ok(())
}

/// How it stands in the log.
fn noted(frame: &Frame) -> Value {
    let code = match (frame.kind, frame.payload.as_slice()) {
        (CLOSE, [high, low, ..]) => json!(u16::from_be_bytes([*high, *low])),
        _ => Value::Null,
    };
    json!({ "frame": frame.kind, "code": code, "body": String::from_utf8_lossy(&frame.payload) })
}

/// A request on its way to an answer.
struct Work {
    message: Message,
    method: String,
    id: Value,
    greeted: bool,
    running: Running,
}

impl Socket {
    fn take(self: &Arc<Self>, text: &[u8], greeted: &mut bool) -> io::Result<()> {
        let Some(message) = Message::read(text) else {
            let refusal = Refusal::new(-32700, "Parse error").to_message(Some(&Value::Null));
            return self.send(refusal.to_string().as_bytes());
        };
        self.site.stats.post(message.method());
        let (Some(method), Some(id)) = (message.method().map(str::to_owned), message.id().cloned()) else {
            self.site.server.notice(&message, &self.scope);
            return Ok(());
        };
        let running = self.site.server.calls.begin(&self.scope, &id);
        let work = Work { running, message, method, id, greeted: *greeted };
        if matches!(work.method.as_str(), "initialize" | "server/discover") {
            *greeted = true;
            return self.work(&work);
        }
        let socket = Arc::clone(self);
        let run = move || {
            // A client that is gone hears nothing more.
            socket.work(&work).unwrap_or_default();
        };
        thread::Builder::new().name("call".to_owned()).spawn(run).map(drop)
    }

    fn work(self: &Arc<Self>, work: &Work) -> io::Result<()> {
        let due = self.site.server.due(&work.method);
        let out: Arc<dyn Out> = Arc::clone(self) as Arc<dyn Out>;
        let request = Request {
            message: &work.message,
            method: &work.method,
            id: &work.id,
            due,
            greeted: work.greeted,
            running: &work.running,
            out: &out,
        };
        if due.has(Name::WsPing) {
            self.ping()?;
        }
        match self.site.server.answer(&request)? {
            Answer::Silence | Answer::Cancelled => Ok(()),
            Answer::Reply(reply) => reply::send(&self.wire, &reply, due),
        }
    }

    /// Asks whether the client is there, and waits until it has said so.
    fn ping(&self) -> io::Result<()> {
        let (sender, pongs) = channel();
        *lock(&self.pong) = Some(sender);
        self.wire.write(&frame::framed(LAST | PING, &Raw::new("there?")))?;
        match pongs.recv_timeout(PATIENCE) {
            Ok(payload) if payload == b"there?" => Ok(()),
            Ok(_) | Err(_) => Err(io::Error::other("no pong, or another")),
        }
    }

    fn hear(&self, payload: Vec<u8>) {
        if let Some(sender) = lock(&self.pong).take() {
            // Whoever waited has gone.
            sender.send(payload).unwrap_or_default();
        }
    }
}

impl Out for Socket {
    fn send(&self, lines: &[u8]) -> io::Result<()> {
        let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let frames: io::Result<Vec<_>> =
            lines.map(|line| frame::framed(LAST | TEXT, &Raw::new(line)).to_vec()).collect();
        self.wire.write(&Raw::new(frames?.concat()))
    }

    /// A request is taken back by a notification, or by the end of everything.
    fn gone(&self) -> bool {
        self.wire.is_gone_within(Duration::ZERO)
    }
}
