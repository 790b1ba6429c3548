//! Event streams in a cluster: the log of a broken connection, and the mirror of a stream of another gateway.
//!
//! A stream without a reader is written to the shared state from its first kept event on, so that its client
//! can read on at another gateway even if this one ends. Streams that are read to their end are never written.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use mcparley_cluster::{InstanceId, StoreChange};
use mcparley_model::limits::{DOOR_LOG_EVENTS, DOOR_LOG_TIME};
use mcparley_platform::random::random_number;
use mcparley_wire::RawJson;
use serde_json::value::RawValue;

use super::{DoorStream, EventKind, NextEvent, StreamEvent, StreamKind, StreamState};
use mcparley_gateway::cluster_link::ClusterLink;
use mcparley_gateway::cluster_link::messages::{LoggedEntry, StreamEntry};

/// The bits of a stream's number behind that of its gateway.
const NUMBER_BITS: u32 = 32;

/// The log of a stream.
#[derive(Debug)]
pub(crate) struct StreamLog {
    link: Arc<ClusterLink>,
    session: Arc<str>,
}

/// An event does not follow the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventGap;

impl DoorStream {
    /// This stream as one of a gateway in a cluster: its number begins with that of the gateway.
    pub(crate) fn in_cluster(mut self, link: &Arc<ClusterLink>, session: &Arc<str>) -> Self {
        let gateway = u64::from(link.instance().0) << NUMBER_BITS;
        let _first = self.number.set(gateway + (random_number() >> NUMBER_BITS)).is_ok();
        self.log = Some(StreamLog { link: Arc::clone(link), session: Arc::clone(session) });
        self
    }

    /// The mirror of a stream of another gateway, which goes on after an event.
    pub(crate) fn mirror_of(number: u64, request: Option<&RawJson>, after: u64) -> Self {
        let stream = Self::new(StreamKind::Resumable { has_priming: false }, request);
        let _first = stream.number.set(number).is_ok();
        let mut state = stream.lock_state();
        (state.first, state.read) = (after.saturating_add(1), after.saturating_add(1));
        drop(state);
        stream
    }

    /// The gateway that a number of a stream begins with.
    pub(crate) fn gateway_of(number: u64) -> InstanceId {
        InstanceId(u32::try_from(number >> NUMBER_BITS).unwrap_or_default())
    }

    /// Adds an event of the mirrored stream. An event that the mirror has already is left out.
    ///
    /// # Errors
    /// When events between are missing.
    pub(crate) fn push_entry(&self, entry: &StreamEntry) -> Result<(), EventGap> {
        let event = match &entry.message {
            Some(message) => {
                StreamEvent::from_bytes(Bytes::copy_from_slice(message.get().as_bytes()), EventKind::Message)
            }
            None => StreamEvent::priming(),
        };
        let state = self.lock_state();
        match entry.event.cmp(&state.next_number()) {
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Equal => {
                self.add_event(state, event);
                Ok(())
            }
            std::cmp::Ordering::Greater => Err(EventGap),
        }
    }

    /// Waits for the next event for a reader; `None` at the end.
    pub(crate) async fn next_entry(&self, reader: u64) -> Option<StreamEntry> {
        let next = std::future::poll_fn(|context: &mut Context<'_>| match self.poll_next(reader, context) {
            Poll::Ready(NextEvent::Event(number, event)) => Poll::Ready(Some((number, event))),
            Poll::Ready(NextEvent::End) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        let (number, event) = next.await?;
        Some(event.to_entry(number))
    }

    /// Starts to write the log, because the connection is broken. A stream that was read to its end needs none.
    pub(super) fn begin_log(&self, state: &mut StreamState) {
        // A closed stream has dropped its events, so nothing of it can be counted.
        if self.log.is_none() || state.is_closed {
            return;
        }
        let is_done = state.ended.is_some() && state.unread() == 0;
        if !is_done {
            state.logged = Some(state.first);
            self.log_events(state);
        }
    }

    /// Writes the events that the log lacks.
    pub(super) fn log_events(&self, state: &mut StreamState) {
        let (Some(log), Some(logged)) = (&self.log, state.logged) else { return };
        let skipped = usize::try_from(logged.saturating_sub(state.first)).unwrap_or(usize::MAX);
        let mut number = logged.max(state.first);
        for event in state.events.iter().skip(skipped) {
            log.write_entry(self.number(), &LoggedEntry::Event(event.to_entry(number)));
            number += 1;
        }
        state.logged = Some(number);
        if state.ended.is_some() {
            log.write_entry(self.number(), &LoggedEntry::End);
            state.logged = None;
        }
    }
}

impl StreamLog {
    fn write_entry(&self, stream: u64, entry: &LoggedEntry) {
        let Some(entry) = self.link.seal_entry(entry) else { return };
        let log = self.link.member.keys().event_log(&self.session, stream);
        let (most, ttl) = (DOOR_LOG_EVENTS, DOOR_LOG_TIME);
        self.link.member.write_later(StoreChange::Append { log, entry, most, ttl });
    }
}

impl StreamEvent {
    fn to_entry(&self, event: u64) -> StreamEntry {
        let message = match self.kind {
            EventKind::Priming => None,
            EventKind::Progress | EventKind::Message => {
                let text = String::from_utf8(self.parts.concat()).ok();
                text.and_then(|text| RawValue::from_string(text).ok())
            }
        };
        StreamEntry { event, message }
    }
}
