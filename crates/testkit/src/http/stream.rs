//! The streams a server writes to while it works: the GET stream of a session, and the answer to a POST.

use super::request::HttpRequest;
use super::sessions::Queue;
use super::wire::{Header, Wire, events};
use super::{Next, Site};
use crate::life::LIFE;
use crate::lock::lock;
use crate::options::Answer;
use crate::raw::Raw;
use crate::server::Out;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a stream looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(10);

/// GET: what the server has to say outside of answers.
pub(crate) fn listen(site: &Site, request: &HttpRequest, wire: &Wire) -> io::Result<Next> {
    site.stats.count("get");
    if site.server.options.old().next().is_none() {
        return wire.refuse(405, "Method not allowed");
    }
    if !request.lists("accept", "text/event-stream") {
        return wire.refuse(406, "text/event-stream must be accepted");
    }
    let Some(id) = request.header("mcp-session-id") else {
        return wire.refuse(400, "Mcp-Session-Id is missing");
    };
    if site.sessions.version(id).is_none() {
        return wire.refuse(404, "Session not found");
    }
    let Some(waiting) = site.sessions.take_waiting(id) else {
        return wire.refuse(409, "Only one stream per session");
    };
    wire.begin_stream(&[])?;
    let next = forward(wire, &waiting);
    site.sessions.return_waiting(id, waiting);
    next
}

/// Forwards messages as events until the client goes or the session ends.
pub(crate) fn forward(wire: &Wire, waiting: &Receiver<Vec<u8>>) -> io::Result<Next> {
    let end = Instant::now() + LIFE;
    while Instant::now() < end {
        match waiting.recv_timeout(LOOK) {
            Ok(lines) => wire.chunk(&events(&lines))?,
            Err(RecvTimeoutError::Disconnected) => return wire.end_stream(),
            Err(RecvTimeoutError::Timeout) if wire.is_gone_within(Duration::ZERO) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Ok(Next::Close)
}

/// The answer to one POST, begun by the first message.
#[derive(Debug)]
pub(crate) struct PostStream {
    wire: Arc<Wire>,
    answer: Answer,
    /// Where messages go that a JSON answer has no room for.
    beside: Option<Arc<Queue>>,
    /// In the new era a closed stream takes the request back; in the old one it must not.
    closing_cancels: bool,
    begun: Mutex<bool>,
}

impl PostStream {
    pub(crate) fn new(
        wire: &Arc<Wire>,
        answer: Answer,
        beside: Option<Arc<Queue>>,
        closing_cancels: bool,
    ) -> Self {
        Self { wire: Arc::clone(wire), answer, beside, closing_cancels, begun: Mutex::new(false) }
    }

    /// Begins the stream unless it has begun.
    pub(crate) fn begin(&self, headers: &[Header<'_>]) -> io::Result<()> {
        let mut begun = lock(&self.begun);
        if !std::mem::replace(&mut *begun, true) {
            self.wire.begin_stream(&[headers, &[("X-Accel-Buffering", "no")]].concat())?;
        }
        Ok(())
    }

    /// Whether the status has been sent.
    pub(crate) fn has_begun(&self) -> bool {
        *lock(&self.begun)
    }

    /// One message of any size.
    pub(crate) fn event(&self, body: &Raw) -> io::Result<()> {
        self.begin(&[])?;
        self.wire.chunk(&Raw::new("event: message\ndata: ").join(body).then("\n\n"))
    }
}

impl Out for PostStream {
    fn send(&self, lines: &[u8]) -> io::Result<()> {
        match (self.answer, &self.beside) {
            (Answer::Sse, _) => {
                self.begin(&[])?;
                self.wire.chunk(&events(lines))
            }
            (Answer::Json, Some(queue)) => queue.send(lines),
            // As real servers do: there is nowhere to say it.
            (Answer::Json, None) => Ok(()),
        }
    }

    fn end(&self) -> io::Result<()> {
        self.wire.end_stream()?;
        self.wire.close()
    }

    fn gone(&self) -> bool {
        self.closing_cancels && self.wire.is_gone_within(Duration::ZERO)
    }
}
