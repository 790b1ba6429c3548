//! An event stream: the messages of one request, or of a session outside of requests.
//!
//! Writers never wait. Unread notifications are bounded: the newest progress replaces the one before it, and
//! others are dropped. A resumable stream keeps the events that it has sent, within limits, so that a client
//! that lost its connection reads on where it stopped.

mod event_id;
mod stream_log;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use mcparley_model::limits::{
    DOOR_EVENT_REQUEST_BYTES, DOOR_LOG_BYTES, DOOR_LOG_EVENTS, DOOR_LOG_TIME, DOOR_RESUME_TIME,
    DOOR_UNREAD_BYTES, DOOR_UNREAD_EVENTS,
};
use mcparley_platform::random::random_number;
use mcparley_wire::served_message::ResponseParts;
use mcparley_wire::{Delivery, RawJson};
use memchr::memchr2;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) use event_id::EventId;
use stream_log::StreamLog;

/// The beginning of a progress notification as we encode it.
const PROGRESS: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/progress""#;

/// An event stream. Written by a request, read by one connection at a time.
#[derive(Debug)]
pub(crate) struct DoorStream {
    kind: StreamKind,
    /// The random number in event ids, chosen when it is first needed.
    number: OnceLock<u64>,
    /// The request in event ids, as base64url of its id.
    request: String,
    state: Mutex<StreamState>,
    /// Notified when an event is added, and when a reader comes or goes.
    changed: Notify,
    /// The log of the stream that other gateways read, in a cluster.
    log: Option<StreamLog>,
}

/// The behavior of a stream without a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// The stream of one connection: over when the connection is lost.
    Bound,
    /// The stream of a request that can be resumed for a while; `has_priming` adds an empty first event.
    Resumable {
        /// Whether the stream begins with an empty event, so that a client knows an id from the start.
        has_priming: bool,
    },
    /// The stream of a session outside of requests, which collects events while there is no reader.
    Channel,
}

#[derive(Debug, Default)]
struct StreamState {
    /// The events that are kept: sent ones for resumption, then unread ones.
    events: VecDeque<StreamEvent>,
    /// The number of the first event that is kept.
    first: u64,
    /// The number of the next event to read.
    read: u64,
    unread_bytes: usize,
    /// The size of the events that were sent and are kept.
    kept_bytes: usize,
    /// The number of the current reader; a new one replaces it.
    reader: u64,
    has_reader: bool,
    waker: Option<Waker>,
    /// The time at which the reader was lost.
    lost: Option<Instant>,
    /// The time at which the last event was added.
    ended: Option<Instant>,
    is_closed: bool,
    /// The number of the next event for the log, while a connection is broken.
    logged: Option<u64>,
}

/// One message of a stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamEvent {
    parts: [Bytes; 3],
    kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    Priming,
    Progress,
    Message,
}

/// The reason why the first phase of an answer ends before its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamStart {
    /// An event waits to be sent.
    Event,
    /// The stream was closed.
    Closed,
}

/// The next step of a reader.
pub(crate) enum NextEvent {
    /// An event, with its number.
    Event(u64, StreamEvent),
    /// The stream has ended, or another reader has replaced this one.
    End,
}

/// The events after a given one are no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventsLost;

impl DoorStream {
    /// The stream of a request; it cannot be resumed if the id of the request is too long.
    pub(crate) fn new(kind: StreamKind, request: Option<&RawJson>) -> Self {
        let is_long = request.is_some_and(|id| id.as_bytes().len() > DOOR_EVENT_REQUEST_BYTES);
        let kind = if is_long { StreamKind::Bound } else { kind };
        let request = match (kind, request) {
            (StreamKind::Bound, _) | (_, None) => String::new(),
            (StreamKind::Resumable { .. } | StreamKind::Channel, Some(id)) => {
                URL_SAFE_NO_PAD.encode(id.as_bytes())
            }
        };
        let mut state = StreamState::default();
        if (kind == StreamKind::Resumable { has_priming: true }) {
            state.events.push_back(StreamEvent::priming());
        }
        Self {
            kind,
            number: OnceLock::new(),
            request,
            state: Mutex::new(state),
            changed: Notify::new(),
            log: None,
        }
    }

    /// The random number in the ids of its events.
    pub(crate) fn number(&self) -> u64 {
        *self.number.get_or_init(random_number)
    }

    /// Whether a lost connection can be resumed.
    pub(crate) fn is_resumable(&self) -> bool {
        self.kind != StreamKind::Bound
    }

    /// Adds a notification if there is space for it.
    pub(crate) fn push_notification(&self, message: Bytes) -> Delivery {
        let kind = if message.starts_with(PROGRESS) { EventKind::Progress } else { EventKind::Message };
        let event = StreamEvent::from_bytes(message, kind);
        let mut state = self.lock_state();
        if state.is_closed || state.ended.is_some() {
            return Delivery::Gone;
        }
        if state.unread() >= DOOR_UNREAD_EVENTS || state.unread_bytes + event.size() > DOOR_UNREAD_BYTES {
            match self.kind {
                StreamKind::Channel if !state.has_reader => state.drop_oldest(),
                StreamKind::Bound | StreamKind::Resumable { .. } | StreamKind::Channel => {
                    return state.replace_progress(event);
                }
            }
        }
        self.add_event(state, event);
        Delivery::Sent
    }

    /// Adds a request of ours, regardless of the space.
    pub(crate) fn push_request(&self, message: Bytes) -> Delivery {
        let state = self.lock_state();
        if state.is_closed || state.ended.is_some() {
            return Delivery::Gone;
        }
        self.add_event(state, StreamEvent::from_bytes(message, EventKind::Message));
        Delivery::Sent
    }

    /// Adds a response, regardless of the space.
    pub(crate) fn push_response(&self, parts: ResponseParts) {
        self.add_event(self.lock_state(), StreamEvent::from_parts(parts));
    }

    /// Ends the stream after the events that it has.
    pub(crate) fn end(&self) {
        let mut state = self.lock_state();
        state.ended.get_or_insert_with(Instant::now);
        self.log_events(&mut state);
        self.wake_reader(state);
    }

    /// Closes the stream: its request is canceled, and unread events are dropped.
    pub(crate) fn close(&self) {
        let mut state = self.lock_state();
        state.is_closed = true;
        state.events.clear();
        self.wake_reader(state);
    }

    fn add_event(&self, mut state: MutexGuard<'_, StreamState>, event: StreamEvent) {
        state.unread_bytes += event.size();
        state.events.push_back(event);
        self.log_events(&mut state);
        self.wake_reader(state);
    }

    fn wake_reader(&self, mut state: MutexGuard<'_, StreamState>) {
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.changed.notify_waiters();
    }

    /// Attaches a reader, which replaces the one before it, at the next unread event. Returns its number.
    pub(crate) fn attach_reader(&self) -> u64 {
        self.replace_reader(self.lock_state())
    }

    fn replace_reader(&self, mut state: MutexGuard<'_, StreamState>) -> u64 {
        state.reader += 1;
        state.has_reader = true;
        state.lost = None;
        state.logged = None;
        let reader = state.reader;
        self.wake_reader(state);
        reader
    }

    /// Attaches a reader at the event after this one, in one step: a reader before it takes no event of the
    /// new one. Returns its number.
    ///
    /// # Errors
    /// If that event is no longer kept.
    pub(crate) fn attach_reader_after(&self, event: u64) -> Result<u64, EventsLost> {
        let mut state = self.lock_state();
        let next = event.checked_add(1).ok_or(EventsLost)?;
        if state.is_closed || next < state.first || next > state.next_number() {
            return Err(EventsLost);
        }
        state.read = next;
        state.count_bytes();
        Ok(self.replace_reader(state))
    }

    /// Detaches a reader without a connection.
    pub(crate) fn detach_reader(&self, reader: u64) {
        let mut state = self.lock_state();
        if state.reader != reader {
            return;
        }
        state.has_reader = false;
        state.lost = Some(Instant::now());
        // A client that got no event id cannot resume.
        let is_over = match self.kind {
            StreamKind::Bound => true,
            StreamKind::Resumable { .. } => state.read == 0,
            StreamKind::Channel => false,
        };
        state.is_closed |= is_over;
        self.begin_log(&mut state);
        self.wake_reader(state);
    }

    /// Polls the next event for a reader.
    pub(crate) fn poll_next(&self, reader: u64, context: &Context<'_>) -> Poll<NextEvent> {
        let mut state = self.lock_state();
        if state.reader != reader || state.is_closed {
            return Poll::Ready(NextEvent::End);
        }
        let place = usize::try_from(state.read - state.first).unwrap_or(usize::MAX);
        if let Some(event) = state.events.get(place).cloned() {
            let number = state.read;
            state.read += 1;
            state.unread_bytes = state.unread_bytes.saturating_sub(event.size());
            state.kept_bytes += event.size();
            let is_kept = self.is_resumable();
            state.trim_sent(is_kept);
            return Poll::Ready(NextEvent::Event(number, event));
        }
        if state.ended.is_some() {
            return Poll::Ready(NextEvent::End);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// The line with the id of an event; empty if the stream cannot be resumed.
    pub(crate) fn id_line(&self, number: u64) -> Bytes {
        match self.is_resumable() {
            true => Bytes::from(format!("id: {:016x}.{number}.{}\n", self.number(), self.request)),
            false => Bytes::new(),
        }
    }

    /// Whether there is an unread message.
    pub(crate) fn has_messages(&self) -> bool {
        self.lock_state().has_messages()
    }

    /// Waits until there is an event to send, or the stream is closed.
    pub(crate) async fn wait_for_start(&self) -> StreamStart {
        self.wait_until(|state| match state {
            state if state.is_closed => Some(StreamStart::Closed),
            state => state.has_messages().then_some(StreamStart::Event),
        })
        .await
    }

    /// Waits until the stream has a reader. Returns whether it has one, and was not closed before.
    pub(crate) async fn wait_for_reader(&self) -> bool {
        self.wait_until(|state| (state.has_reader || state.is_closed).then_some(!state.is_closed)).await
    }

    /// Waits until the client cannot receive the answer any more: the stream is closed, or its connection
    /// was lost and not resumed in time.
    pub(crate) async fn wait_until_gone(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let deadline = {
                let state = self.lock_state();
                if state.is_closed {
                    return;
                }
                match self.kind {
                    StreamKind::Channel => None,
                    StreamKind::Bound | StreamKind::Resumable { .. } => state.lost,
                }
            };
            match deadline {
                None => changed.await,
                Some(lost) => tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(lost + DOOR_RESUME_TIME) => self.close_if_lost(),
                },
            }
        }
    }

    fn close_if_lost(&self) {
        if self.lock_state().lost.is_some() {
            self.close();
        }
    }

    async fn wait_until<T>(&self, is_met: impl Fn(&StreamState) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(met) = is_met(&self.lock_state()) {
                return met;
            }
            changed.await;
        }
    }

    /// Whether the stream is no longer needed: closed, or ended long ago.
    pub(crate) fn is_expired(&self) -> bool {
        let state = self.lock_state();
        state.is_closed || state.ended.is_some_and(|ended| ended.elapsed() > DOOR_LOG_TIME)
    }

    /// The time at which the last event was added; `None` while the request runs.
    pub(crate) fn finish_time(&self) -> Option<Instant> {
        self.lock_state().ended
    }

    /// Whether a connection reads the stream.
    pub(crate) fn has_reader(&self) -> bool {
        self.lock_state().has_reader
    }

    /// The size of the events that the stream keeps.
    pub(crate) fn kept_bytes(&self) -> usize {
        let state = self.lock_state();
        state.kept_bytes + state.unread_bytes
    }

    fn lock_state(&self) -> MutexGuard<'_, StreamState> {
        // Every change is one step, so a panic leaves no partial change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamState {
    fn has_messages(&self) -> bool {
        self.events.iter().any(|event| event.kind != EventKind::Priming)
    }

    fn next_number(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn unread(&self) -> usize {
        usize::try_from(self.next_number() - self.read).unwrap_or(usize::MAX)
    }

    fn sent(&self) -> usize {
        usize::try_from(self.read.saturating_sub(self.first)).unwrap_or(usize::MAX)
    }

    fn count_bytes(&mut self) {
        let sent = self.sent();
        self.kept_bytes = self.events.iter().take(sent).map(StreamEvent::size).sum();
        self.unread_bytes = self.events.iter().skip(sent).map(StreamEvent::size).sum();
    }

    /// Drops the oldest event, read or not.
    fn drop_oldest(&mut self) {
        if self.events.pop_front().is_some() {
            self.first += 1;
            self.read = self.read.max(self.first);
            self.count_bytes();
        }
    }

    /// Replaces the last unread progress; any other notification is dropped.
    fn replace_progress(&mut self, event: StreamEvent) -> Delivery {
        let sent = self.sent();
        let newest = self.events.iter_mut().skip(sent).rev().find(|old| old.kind == EventKind::Progress);
        match (event.kind, newest) {
            (EventKind::Progress, Some(old)) => {
                *old = event;
                self.count_bytes();
                Delivery::Sent
            }
            (EventKind::Progress | EventKind::Message | EventKind::Priming, _) => Delivery::Dropped,
        }
    }

    /// Drops sent events beyond the limits; all of them if they are not kept.
    fn trim_sent(&mut self, is_kept: bool) {
        let is_over =
            |state: &Self| !is_kept || state.sent() > DOOR_LOG_EVENTS || state.kept_bytes > DOOR_LOG_BYTES;
        while self.sent() > 0 && is_over(self) {
            let size = self.events.pop_front().map_or(0, |event| event.size());
            self.first += 1;
            self.kept_bytes = self.kept_bytes.saturating_sub(size);
        }
    }
}

impl StreamEvent {
    fn priming() -> Self {
        Self { parts: [Bytes::new(), Bytes::new(), Bytes::new()], kind: EventKind::Priming }
    }

    fn from_bytes(message: Bytes, kind: EventKind) -> Self {
        Self { parts: [remove_line_ends(message), Bytes::new(), Bytes::new()], kind }
    }

    fn from_parts(ResponseParts { head, result, tail }: ResponseParts) -> Self {
        Self { parts: [head, remove_line_ends(result), tail], kind: EventKind::Message }
    }

    fn size(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// The event as it is sent: the lines before the message, the message, and the lines after it.
    pub(crate) fn into_frames(self, id_line: &Bytes) -> [Bytes; 4] {
        let [head, result, tail] = self.parts;
        let mut start = Vec::with_capacity(id_line.len() + head.len() + 32);
        match self.kind {
            EventKind::Priming => start.extend_from_slice(b"retry: 1000\n"),
            EventKind::Progress | EventKind::Message => start.extend_from_slice(b"event: message\n"),
        }
        start.extend_from_slice(id_line);
        start.extend_from_slice(b"data: ");
        start.extend_from_slice(&head);
        [Bytes::from(start), result, tail, Bytes::from_static(b"\n\n")]
    }
}

/// Replaces line ends by spaces. In JSON they stand only between tokens, and would end the line of an event.
fn remove_line_ends(message: Bytes) -> Bytes {
    if memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

#[cfg(test)]
mod tests;
