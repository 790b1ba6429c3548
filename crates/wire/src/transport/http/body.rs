//! Reads response bodies within a size limit.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcparley_model::limits::{ERROR_BODY_BYTES, EXCERPT_CHARS};
use mcparley_model::text::{clean_text, truncate_text};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::event::{Event, EventDecoder, EventTooLarge};
use super::http_error::broken_failure;
use crate::failure::Failure;

/// Timeout for the body of an error status, which only explains it.
const WORDS: Duration = Duration::from_secs(2);

/// The media type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum Kind {
    /// One JSON message.
    Json,
    /// An event stream.
    Events,
    /// Any other media type, or an encoded body.
    Other,
}

impl Kind {
    pub(in crate::transport) fn from_response(response: &Response) -> Self {
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        // We accept no encoding: a small body could otherwise expand to a large one.
        if header(CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            return Self::Other;
        }
        let media = header(CONTENT_TYPE).and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        if media.eq_ignore_ascii_case("application/json") {
            Self::Json
        } else if media.eq_ignore_ascii_case("text/event-stream") {
            Self::Events
        } else {
            Self::Other
        }
    }
}

/// Reads the whole body, if it has at most `limit` bytes.
pub(super) async fn read_bounded(mut response: Response, limit: usize) -> Result<Bytes, Failure> {
    let too_large = Failure::TooLarge { limit };
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(too_large);
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| broken_failure())? {
        if body.len() + chunk.len() > limit {
            return Err(too_large);
        }
        body.extend_from_slice(&chunk);
    }
    let body = body.freeze();
    let bare = body.trim_ascii();
    Ok(body.slice_ref(bare))
}

/// Reads the beginning of a body that only explains an error, within a timeout.
pub(in crate::transport) async fn read_beginning(mut response: Response) -> Bytes {
    let mut body = BytesMut::new();
    let work = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = ERROR_BODY_BYTES - body.len();
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if body.len() >= ERROR_BODY_BYTES {
                break;
            }
        }
    };
    // After the timeout, the bytes received so far are used.
    let _late = tokio::time::timeout(WORDS, work).await;
    body.freeze()
}

/// The first characters of a body, for display.
pub(in crate::transport) fn body_excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_text(&clean_text(&words), EXCERPT_CHARS).into_owned()
}

/// A body that is an event stream.
#[derive(Debug)]
pub(in crate::transport) struct EventStream {
    response: Response,
    limit: usize,
    events: EventDecoder,
    ready: VecDeque<Event>,
    overflowed: bool,
}

impl EventStream {
    /// Creates a stream of events of at most `limit` bytes each.
    pub(in crate::transport) fn new(response: Response, limit: usize) -> Self {
        let events = EventDecoder::with_limit(limit);
        Self { response, limit, events, ready: VecDeque::new(), overflowed: false }
    }

    /// Creates the stream that resumes this one.
    pub(in crate::transport) fn resume_with(&self, response: Response) -> Self {
        Self { events: self.events.for_resumption(), ..Self::new(response, self.limit) }
    }

    /// Returns the next message; `None` at the proper end. Other events, and those without data, are skipped.
    pub(in crate::transport) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(Event { name, data }) = self.next_event().await? {
            if name == "message" && !data.is_empty() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Returns the next event of any kind.
    pub(in crate::transport) async fn next_event(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.overflowed {
                return Err(Failure::TooLarge { limit: self.limit });
            }
            let Some(chunk) = self.response.chunk().await.map_err(|_| broken_failure())? else {
                return Ok(None);
            };
            if let Err(EventTooLarge) = self.events.feed(&chunk, &mut self.ready) {
                self.overflowed = true;
            }
        }
    }

    /// The id of the last event, from which the stream can be resumed.
    pub(in crate::transport) fn last_id(&self) -> Option<&Bytes> {
        self.events.last_id()
    }

    /// The pause before a reconnect, as the server requested it.
    pub(in crate::transport) fn retry_pause(&self) -> Option<Duration> {
        self.events.retry_pause()
    }
}
