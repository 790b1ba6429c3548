//! The event streams of the server: the GET stream of a session, and the response to a POST.

use super::request::HttpRequest;
use super::sessions::StreamQueue;
use super::wire::{HttpWire, ResponseHeader, events};
use super::{ConnectionNext, TestSite};
use crate::life::LIFE;
use crate::lock::lock;
use crate::options::AnswerFormat;
use crate::raw::RawBytes;
use crate::server::MessageSink;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The interval at which a stream checks whether its client is still connected.
const LOOK: Duration = Duration::from_millis(10);

/// Serves the GET stream: the messages outside of replies.
pub(crate) fn serve_get_stream(
    site: &TestSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    site.stats.count_event("get");
    if site.server.options.old_era_versions().next().is_none() {
        return wire.write_text(405, "Method not allowed");
    }
    if !request.lists_media_type("accept", "text/event-stream") {
        return wire.write_text(406, "text/event-stream must be accepted");
    }
    let Some(id) = request.header("mcp-session-id") else {
        return wire.write_text(400, "Mcp-Session-Id is missing");
    };
    if site.sessions.version(id).is_none() {
        return wire.write_text(404, "Session not found");
    }
    let Some(waiting) = site.sessions.take_waiting(id) else {
        return wire.write_text(409, "Only one stream per session");
    };
    wire.begin_stream(&[])?;
    let next = forward_messages(wire, &waiting);
    site.sessions.return_waiting(id, waiting);
    next
}

/// Forwards messages as events until the client disconnects or the session ends.
pub(crate) fn forward_messages(wire: &HttpWire, waiting: &Receiver<Vec<u8>>) -> io::Result<ConnectionNext> {
    let end = Instant::now() + LIFE;
    while Instant::now() < end {
        match waiting.recv_timeout(LOOK) {
            Ok(lines) => wire.write_chunk(&events(&lines))?,
            Err(RecvTimeoutError::Disconnected) => return wire.end_stream(),
            Err(RecvTimeoutError::Timeout) if wire.is_closed_within(Duration::ZERO) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Ok(ConnectionNext::Close)
}

/// The response to one POST, started by its first message.
#[derive(Debug)]
pub(crate) struct PostStream {
    wire: Arc<HttpWire>,
    answer: AnswerFormat,
    /// The queue for messages that a JSON response cannot carry.
    get_stream: Option<Arc<StreamQueue>>,
    /// Whether closing the stream cancels the request: in the new era it does, in the old one it must not.
    closing_cancels: bool,
    begun: Mutex<bool>,
}

impl PostStream {
    pub(crate) fn new(
        wire: &Arc<HttpWire>,
        answer: AnswerFormat,
        get_stream: Option<Arc<StreamQueue>>,
        closing_cancels: bool,
    ) -> Self {
        Self { wire: Arc::clone(wire), answer, get_stream, closing_cancels, begun: Mutex::new(false) }
    }

    /// Starts the stream unless it has started.
    pub(crate) fn start(&self, headers: &[ResponseHeader<'_>]) -> io::Result<()> {
        let mut begun = lock(&self.begun);
        if !std::mem::replace(&mut *begun, true) {
            self.wire.begin_stream(&[headers, &[("X-Accel-Buffering", "no")]].concat())?;
        }
        Ok(())
    }

    /// Whether the status has been sent.
    pub(crate) fn has_started(&self) -> bool {
        *lock(&self.begun)
    }

    /// Writes one message of any size.
    pub(crate) fn write_event(&self, body: &RawBytes) -> io::Result<()> {
        self.start(&[])?;
        self.wire.write_chunk(&RawBytes::new("event: message\ndata: ").append_raw(body).append_bytes("\n\n"))
    }
}

impl MessageSink for PostStream {
    fn send_lines(&self, lines: &[u8]) -> io::Result<()> {
        match (self.answer, &self.get_stream) {
            (AnswerFormat::Sse, _) => {
                self.start(&[])?;
                self.wire.write_chunk(&events(lines))
            }
            (AnswerFormat::Json, Some(queue)) => queue.send_lines(lines),
            // Dropped, as real servers do: there is no channel to the client.
            (AnswerFormat::Json, None) => Ok(()),
        }
    }

    fn end_stream(&self) -> io::Result<()> {
        self.wire.end_stream()?;
        self.wire.close()
    }

    fn is_closed(&self) -> bool {
        self.closing_cancels && self.wire.is_closed_within(Duration::ZERO)
    }
}
