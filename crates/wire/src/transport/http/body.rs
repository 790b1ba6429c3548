//! Reads the body of an answer, never more of it than we take.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcparley_model::limits::{ERROR_BODY_BYTES, EXCERPT_CHARS};
use mcparley_model::text::{clean, cut};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::event::{Event, Events, TooLarge};
use super::trouble::broken;
use crate::failure::Failure;

/// How long we wait for the words behind a status that says it all.
const WORDS: Duration = Duration::from_secs(2);

/// What a body is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum Kind {
    /// One message.
    Json,
    /// A stream of messages.
    Events,
    /// Nothing we asked for.
    Other,
}

impl Kind {
    pub(in crate::transport) fn of(response: &Response) -> Self {
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        // We asked for none: a small body could otherwise become a large one.
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

/// The whole body, if it has at most `limit` bytes.
pub(super) async fn bounded(mut response: Response, limit: usize) -> Result<Bytes, Failure> {
    let too_large = Failure::TooLarge { limit };
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(too_large);
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| broken())? {
        if body.len() + chunk.len() > limit {
            return Err(too_large);
        }
        body.extend_from_slice(&chunk);
    }
    let body = body.freeze();
    let bare = body.trim_ascii();
    Ok(body.slice_ref(bare))
}

/// The beginning of a body that only explains something; what does not come in time is not missed.
pub(in crate::transport) async fn beginning(mut response: Response) -> Bytes {
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
    // What came until then is what there is.
    let _late = tokio::time::timeout(WORDS, work).await;
    body.freeze()
}

/// The first characters of a body, for people.
pub(in crate::transport) fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&clean(&words), EXCERPT_CHARS).into_owned()
}

/// A body that is a stream of events.
#[derive(Debug)]
pub(in crate::transport) struct Stream {
    response: Response,
    limit: usize,
    events: Events,
    ready: VecDeque<Event>,
    overflowed: bool,
}

impl Stream {
    /// Of events that have at most `limit` bytes each.
    pub(in crate::transport) fn new(response: Response, limit: usize) -> Self {
        let events = Events::with_limit(limit);
        Self { response, limit, events, ready: VecDeque::new(), overflowed: false }
    }

    /// The same stream, taken up again.
    pub(in crate::transport) fn taken_up(&self, response: Response) -> Self {
        Self { events: self.events.taken_up(), ..Self::new(response, self.limit) }
    }

    /// The next message; `None` at the proper end. Other events, and those without data, are none.
    pub(in crate::transport) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(Event { name, data }) = self.event().await? {
            if name == "message" && !data.is_empty() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The next event of any kind.
    pub(in crate::transport) async fn event(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.overflowed {
                return Err(Failure::TooLarge { limit: self.limit });
            }
            let Some(chunk) = self.response.chunk().await.map_err(|_| broken())? else {
                return Ok(None);
            };
            if let Err(TooLarge) = self.events.feed(&chunk, &mut self.ready) {
                self.overflowed = true;
            }
        }
    }

    /// Where it could be taken up again.
    pub(in crate::transport) fn last_id(&self) -> Option<&Bytes> {
        self.events.last_id()
    }

    /// How long to pause before that.
    pub(in crate::transport) fn retry(&self) -> Option<Duration> {
        self.events.retry()
    }
}
