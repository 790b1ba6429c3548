//! The session of a client of the old era over HTTP: its streams, running requests and open questions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcparley_model::limits::{DOOR_SESSION_LOG_BYTES, DOOR_SESSION_STREAMS};
use mcparley_wire::peer::Handler as _;
use mcparley_wire::{Cause, Incoming, ProtocolVersion, RawJson, Replies};
use tokio::sync::OnceCell;
use tokio::task::AbortHandle;

use crate::event_stream::{DoorStream, StreamKind};
use crate::question::{OpenQuestions, StreamSink};
use mcparley_cluster::seconds_since_epoch;
use mcparley_gateway::GatewaySession;

/// The number of resumable streams below which they are swept with each new one.
const DOOR_SWEPT_STREAMS: usize = 64;

/// A session of the old era.
#[derive(Debug)]
pub(crate) struct HttpSession {
    /// The value of `Mcp-Session-Id`.
    pub(crate) id: Arc<str>,
    pub(crate) principal: Arc<str>,
    pub(crate) revision: ProtocolVersion,
    pub(crate) session: GatewaySession,
    pub(crate) questions: Arc<OpenQuestions>,
    /// The stream of messages outside of requests.
    pub(crate) channel: Arc<DoorStream>,
    /// The streams of the requests that are being answered, by their raw ids.
    running: Mutex<HashMap<Bytes, Arc<DoorStream>>>,
    /// The streams that can be resumed.
    streams: Mutex<ResumableStreams>,
    /// Done when the values that other gateways know are loaded; its value says whether the session goes on.
    pub(crate) loaded: OnceCell<bool>,
    background: AbortHandle,
    /// The time of the last use, in seconds since 1970.
    used: AtomicU64,
}

/// The streams of a session that can be resumed, by their numbers.
#[derive(Debug, Default)]
struct ResumableStreams {
    by_number: HashMap<u64, Arc<DoorStream>>,
    /// The number of streams that were added since the last sweep, so that a stream costs the same however many
    /// there are.
    added: usize,
}

/// A request in the table of running ones, until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningRequest {
    session: Arc<HttpSession>,
    id: Bytes,
    stream: Arc<DoorStream>,
}

impl HttpSession {
    /// Starts a session, with its background work.
    pub(crate) fn start(
        id: Arc<str>,
        principal: Arc<str>,
        revision: ProtocolVersion,
        (session, channel): (GatewaySession, StreamKind),
    ) -> Arc<Self> {
        let channel = Arc::new(DoorStream::new(channel, None));
        let gateway = session.serving_gateway().cluster().map_or(0, |link| link.instance().0);
        let questions = Arc::new(OpenQuestions::new(gateway));
        let sink = StreamSink {
            stream: Arc::clone(&channel),
            questions: Some(Arc::clone(&questions)),
            needs_reader: true,
        };
        session.open_channel(Replies::new(Arc::new(sink)));
        let working = session.clone();
        let background = tokio::spawn(async move { working.run_background_work().await }).abort_handle();
        let http = Self {
            id,
            principal,
            revision,
            session,
            questions,
            channel,
            running: Mutex::default(),
            streams: Mutex::default(),
            loaded: OnceCell::new(),
            background,
            used: AtomicU64::new(seconds_since_epoch()),
        };
        Arc::new(http)
    }

    /// The kind of the stream of a request: event ids exist from 2025-03-26 on, an empty first event from
    /// 2025-11-25 on, because older clients fail on it.
    pub(crate) fn stream_kind(&self) -> StreamKind {
        match self.revision.as_str() {
            "2024-11-05" => StreamKind::Bound,
            revision => StreamKind::Resumable { has_priming: revision >= "2025-11-25" },
        }
    }

    /// Replays the handshake at the session, which then knows the client's revision and capabilities.
    pub(crate) fn replay_handshake(session: &GatewaySession, params: RawJson) {
        let stream = Arc::new(DoorStream::new(StreamKind::Bound, None));
        let sink = StreamSink { stream, questions: None, needs_reader: false };
        let incoming = Incoming {
            id: RawJson::from_text("0"),
            method: "initialize".into(),
            params: Some(params),
            cause: Cause::Connection,
            replies: Replies::new(Arc::new(sink)),
        };
        // The version is negotiated at once; the answer is not needed.
        drop(session.handle_request(incoming));
    }

    /// Registers a request that is being answered. Of two requests with the same id only the first can be
    /// canceled.
    pub(crate) fn register_request(
        self: &Arc<Self>,
        id: &RawJson,
        stream: &Arc<DoorStream>,
    ) -> RunningRequest {
        let id = Bytes::copy_from_slice(id.as_bytes());
        lock(&self.running).entry(id.clone()).or_insert_with(|| Arc::clone(stream));
        RunningRequest { session: Arc::clone(self), id, stream: Arc::clone(stream) }
    }

    /// Cancels a request that needs no response any more. Returns whether it runs here.
    pub(crate) fn cancel_request(&self, id: &RawJson) -> bool {
        let stream = lock(&self.running).remove(id.as_bytes());
        let is_here = stream.is_some();
        if let Some(stream) = stream {
            stream.close();
        }
        is_here
    }

    /// Adds a stream that can be resumed. Expired streams are removed, and beyond the limits of the session the
    /// finished ones, oldest first. The stream of a running request stays.
    pub(crate) fn add_stream(&self, stream: &Arc<DoorStream>) {
        if !stream.is_resumable() {
            return;
        }
        lock(&self.streams).add_stream(stream);
    }

    /// The stream with this number.
    pub(crate) fn find_stream(&self, number: u64) -> Option<Arc<DoorStream>> {
        if self.channel.number() == number {
            return Some(Arc::clone(&self.channel));
        }
        lock(&self.streams).by_number.get(&number).cloned()
    }

    /// Removes streams that have expired.
    pub(crate) fn remove_expired_streams(&self) {
        lock(&self.streams).by_number.retain(|_, stream| !stream.is_expired());
    }

    /// The size of the events that its streams keep.
    pub(crate) fn kept_bytes(&self) -> usize {
        lock(&self.streams).kept_bytes()
    }

    /// Removes the streams of all requests that have ended, to save memory.
    pub(crate) fn remove_finished_streams(&self) {
        lock(&self.streams).by_number.retain(|_, stream| stream.finish_time().is_none());
    }

    /// Notes that the session is used.
    pub(crate) fn touch(&self) {
        self.used.store(seconds_since_epoch(), Ordering::Relaxed);
    }

    /// The time of the last use, in seconds since 1970.
    pub(crate) fn last_use(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether neither a request nor a connection uses the session.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.running).is_empty() && !self.channel.has_reader()
    }

    /// Ends the session: cancels its requests and closes its streams.
    pub(crate) fn close(&self) {
        self.background.abort();
        self.channel.close();
        let running: Vec<_> = lock(&self.running).drain().map(|(_, stream)| stream).collect();
        let streams: Vec<_> = lock(&self.streams).by_number.drain().map(|(_, stream)| stream).collect();
        running.iter().chain(&streams).for_each(|stream| stream.close());
    }
}

impl ResumableStreams {
    fn add_stream(&mut self, stream: &Arc<DoorStream>) {
        self.by_number.insert(stream.number(), Arc::clone(stream));
        self.added += 1;
        if self.by_number.len() < DOOR_SWEPT_STREAMS || self.added >= DOOR_SWEPT_STREAMS {
            self.added = 0;
            self.remove_excess();
        }
    }

    fn kept_bytes(&self) -> usize {
        self.by_number.values().map(|stream| stream.kept_bytes()).sum()
    }

    /// Removes expired streams, and finished ones until the limits hold.
    fn remove_excess(&mut self) {
        self.by_number.retain(|_, stream| !stream.is_expired());
        let (mut bytes, mut count) = (self.kept_bytes(), self.by_number.len());
        if bytes <= DOOR_SESSION_LOG_BYTES && count <= DOOR_SESSION_STREAMS {
            return;
        }
        let finished = self.by_number.iter();
        let mut finished: Vec<_> = finished
            .filter_map(|(number, stream)| Some((stream.finish_time()?, *number, stream.kept_bytes())))
            .collect();
        finished.sort_unstable();
        for (_, number, size) in finished {
            if bytes <= DOOR_SESSION_LOG_BYTES && count <= DOOR_SESSION_STREAMS {
                return;
            }
            self.by_number.remove(&number);
            (bytes, count) = (bytes.saturating_sub(size), count - 1);
        }
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.background.abort();
        self.session.cancel_parked_calls();
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let mut running = lock(&self.session.running);
        if running.get(&self.id).is_some_and(|stream| Arc::ptr_eq(stream, &self.stream)) {
            running.remove(&self.id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one step, so a panic leaves no partial change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
