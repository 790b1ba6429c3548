//! Where everything that comes is sorted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use mcparley_model::limits::{EXCERPT_CHARS, INBOUND_REQUESTS, SERVED_REQUESTS};
use mcparley_model::text::{Untrusted, cut};
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::call::Progress;
use super::owed::Owed;
use super::refusal::{self, Refusal};
use super::{Handler, Peer};
use crate::failure::{Damage, Failure, RpcError};
use crate::frame::Frame;
use crate::json::RawJson;
use crate::message::{self, Form, Id, Message};
use crate::salvage;
use crate::task::Tasks;

/// Too many requests of the other side at once.
const BUSY: i64 = -32000;

/// The receiving end of a peer, for transports.
#[derive(Clone)]
pub(crate) struct Inbox {
    peer: Peer,
    handler: Arc<dyn Handler>,
    /// How many bytes a message may have.
    limit: usize,
    /// Requests of the other side that are being answered; they end with the conversation.
    answers: Arc<Tasks>,
    owed: Arc<Owed>,
    room: Arc<Semaphore>,
    strays: Arc<Counters>,
    /// Whether the other side is told what could not be read: a client waits for an answer to it.
    tells: bool,
}

#[derive(Debug, Default)]
struct Counters {
    noise: AtomicU64,
    unclaimed: AtomicU64,
    /// The beginning of the first line that was no message: often enough to know whose it is.
    first: OnceLock<String>,
}

/// What a part of a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorted {
    Message,
    Noise,
}

/// What came and belonged to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strays {
    /// Lines that were no messages.
    pub noise: u64,
    /// Answers to no request of ours, and damage that names none.
    pub unclaimed: u64,
}

/// What came and belonged to nobody, as it grows.
#[derive(Clone, Debug)]
pub struct StrayRecord(Arc<Counters>);

impl StrayRecord {
    /// How much it is so far.
    #[must_use]
    pub fn now(&self) -> Strays {
        self.0.now()
    }

    /// The beginning of the first line that was no message.
    #[must_use]
    pub fn first(&self) -> Option<Untrusted> {
        self.0.first.get().map(|line| Untrusted::new(line.as_str()))
    }
}

impl Counters {
    fn now(&self) -> Strays {
        Strays {
            noise: self.noise.load(Ordering::Relaxed),
            unclaimed: self.unclaimed.load(Ordering::Relaxed),
        }
    }
}

impl Inbox {
    pub(super) fn new(peer: Peer, handler: Arc<dyn Handler>) -> Self {
        Self {
            peer,
            limit: handler.message_limit(),
            handler,
            answers: Arc::default(),
            owed: Arc::default(),
            room: Arc::new(Semaphore::new(INBOUND_REQUESTS)),
            strays: Arc::default(),
            tells: false,
        }
    }

    /// The same for the side that serves: it takes more requests at once, and tells what it could not read.
    pub(crate) fn serving(self) -> Self {
        Self { room: Arc::new(Semaphore::new(SERVED_REQUESTS)), tells: true, ..self }
    }

    /// Waits until no request of the other side is being answered.
    pub(crate) async fn idle(&self) {
        // All the room there is; were it closed, nothing would be answered either.
        let _all = self.room.acquire_many(u32::try_from(SERVED_REQUESTS).unwrap_or(u32::MAX)).await;
    }

    /// The requests that are being answered are not answered any more.
    pub(crate) fn drop_answers(&self) {
        self.answers.abort();
    }

    /// How many bytes a message may have.
    pub(crate) fn message_limit(&self) -> usize {
        self.limit
    }

    /// Takes what a stream of lines gives.
    pub(crate) fn deliver_frame(&self, frame: Frame) {
        let too_large = Failure::TooLarge { limit: self.limit };
        match frame {
            Frame::Line(line) => self.deliver(&line),
            Frame::TooLong { head } if self.tells => self.refuse_early(&head),
            Frame::TooLong { head } => match may_be_message(&head) {
                true => self.fail(salvage::id(&head), &too_large),
                false => self.note_stray(&head),
            },
            Frame::TooLongEnd { head, tail } if self.tells => self.refuse_late(&head, &tail),
            // What stands in the end may be nested deep, so it counts only when the beginning names no call.
            Frame::TooLongEnd { head, tail } => {
                if let (true, None, Some(id)) =
                    (may_be_message(&head), salvage::id(&head), salvage::last_id(&tail))
                {
                    self.peer.shared.pending.answer(&id, Err(too_large));
                }
            }
        }
    }

    /// Takes one message.
    pub(crate) fn deliver(&self, line: &Bytes) {
        let messages = message::read(line);
        if self.tells {
            refusal::all(line, &messages).for_each(|refusal| self.refuse(&refusal));
        }
        let mut is_stray = messages.is_empty();
        for message in messages {
            is_stray |= self.sort(message) == Sorted::Noise;
        }
        if is_stray {
            self.note_stray(line);
        }
    }

    /// Takes one message from the stream of one request, on which only that request may be answered (B12).
    /// Says whether it now is.
    pub(crate) fn deliver_to(&self, call: u64, line: &Bytes) -> bool {
        let mut answered = false;
        for message in message::read(line) {
            let outcome = match message {
                Message::Response { id: Some(Id::Number(id)), outcome } if id == call => {
                    outcome.map_err(Failure::Answered)
                }
                // An error that names no request can only mean the one whose stream this is.
                Message::Response { id: None, outcome: Err(error) } => Err(Failure::Answered(error)),
                Message::Damaged { id, damage, form: _ } if is(id.as_ref(), call) => {
                    Err(Failure::Damaged(damage))
                }
                Message::Response { .. } | Message::Damaged { .. } => {
                    self.unclaimed();
                    continue;
                }
                Message::Request { .. } | Message::Notification { .. } | Message::Noise => {
                    if self.sort(message) == Sorted::Noise {
                        self.note_stray(line);
                    }
                    continue;
                }
            };
            if self.peer.shared.pending.answer(&Id::Number(call), outcome) {
                answered = true;
            } else {
                self.unclaimed();
            }
        }
        answered
    }

    /// Fails one call; nothing if it has its answer already.
    pub(crate) fn fail_call(&self, call: u64, failure: Failure) {
        self.peer.shared.pending.answer(&Id::Number(call), Err(failure));
    }

    /// The conversation is over.
    pub(crate) fn close(&self, failure: &Failure) {
        self.answers.abort();
        self.peer.end(failure, failure);
    }

    /// The conversation is over because the server cannot be reached any more. That one exchange found out why does
    /// not mean that nothing became of the others.
    pub(crate) fn lose(&self, why: &Failure) {
        self.answers.abort();
        self.peer.end(why, &Failure::Closed { exit: None, sent: true });
    }

    /// Waits until the conversation is over.
    pub(crate) async fn ended(&self) {
        self.peer.ended().await;
    }

    /// What belonged to nobody so far.
    pub(crate) fn strays(&self) -> Strays {
        self.strays.now()
    }

    /// The same, to be looked at also when the conversation is over.
    pub(crate) fn stray_record(&self) -> StrayRecord {
        StrayRecord(Arc::clone(&self.strays))
    }

    fn sort(&self, message: Message) -> Sorted {
        match message {
            Message::Response { id: Some(id), outcome } => {
                let answer = outcome.map_err(Failure::Answered);
                if !self.peer.shared.pending.answer(&id, answer) {
                    self.unclaimed();
                }
            }
            // An error without an id means the request it could not read.
            Message::Response { id: None, outcome: Err(error) } => self.fail(None, &Failure::Answered(error)),
            Message::Response { id: None, outcome: Ok(_) } => self.unclaimed(),
            Message::Damaged { id, damage, form } => return self.sort_damage(id, damage, form),
            Message::Request { id, .. } if self.tells && !refusal::is_id(&id) => self.unclaimed(),
            Message::Request { id, method, params } => self.answer(id, &method, params),
            Message::Notification { method, params } => self.hear(&method, params),
            Message::Noise => return Sorted::Noise,
        }
        Sorted::Message
    }

    /// Fails the call that a damaged message was to answer. What nothing but its braces has of a message is noise, and a
    /// line without a version is a message only if it names a call that waits.
    fn sort_damage(&self, id: Option<Id>, damage: Damage, form: Form) -> Sorted {
        let failure = Failure::Damaged(damage);
        match form {
            Form::Foreign => return Sorted::Noise,
            Form::Unversioned => {
                let is_open = id.is_some_and(|id| self.peer.shared.pending.answer(&id, Err(failure)));
                return if is_open { Sorted::Message } else { Sorted::Noise };
            }
            Form::Request => self.unclaimed(),
            Form::Answer => self.fail(id, &failure),
        }
        Sorted::Message
    }

    /// Fails the call that is meant, or the only one there is.
    pub(crate) fn fail(&self, id: Option<Id>, failure: &Failure) {
        let pending = &self.peer.shared.pending;
        let claimed = match id {
            Some(id) => pending.answer(&id, Err(failure.clone())),
            None => pending.answer_only(Err(failure.clone())),
        };
        if !claimed {
            self.unclaimed();
        }
    }

    /// Tells the other side that something cannot be answered, unless it does not listen anyway.
    fn refuse(&self, refusal: &Refusal) {
        self.peer.shared.outbound.offer(Bytes::from(refusal.message()));
    }

    fn refuse_early(&self, head: &Bytes) {
        if let Some(id) = salvage::id(head) {
            self.refuse(&Refusal::too_large(Some(id)));
        }
    }

    /// The end of a message that was too large says whose it is, if its beginning did not.
    fn refuse_late(&self, head: &Bytes, tail: &Bytes) {
        if salvage::id(head).is_none() {
            self.refuse(&Refusal::too_large(salvage::last_id(tail)));
        }
    }

    fn note_stray(&self, line: &Bytes) {
        self.strays.first.get_or_init(|| excerpt(line));
        self.strays.noise.fetch_add(1, Ordering::Relaxed);
    }

    fn unclaimed(&self) {
        self.strays.unclaimed.fetch_add(1, Ordering::Relaxed);
    }

    /// What concerns a call of ours goes there; the rest is for the handler.
    fn hear(&self, method: &str, params: Option<RawJson>) {
        let pending = &self.peer.shared.pending;
        match (method, params) {
            ("notifications/progress", Some(params)) => {
                let token =
                    params.decode::<Token>().ok().and_then(|token| Id::read(&token.token.to_string()));
                if let (Some(Id::Number(id)), Ok(progress)) = (token, params.decode::<Progress>()) {
                    pending.progress(id, progress);
                }
            }
            ("notifications/subscriptions/acknowledged", Some(params)) => {
                let meta = params.member("_meta");
                if let Some(id) = meta.and_then(|meta| meta.names("io.modelcontextprotocol/subscriptionId")) {
                    pending.acknowledge(id, params);
                }
            }
            ("notifications/cancelled", Some(params)) => {
                if let Some(id) = params.names("requestId") {
                    pending.end(id);
                }
                if let Some(id) = params.member("requestId") {
                    self.owed.release(&id);
                }
                self.handler.notification(method, Some(params));
            }
            ("notifications/progress" | "notifications/subscriptions/acknowledged", None) => {}
            (method, params) => self.handler.notification(method, params),
        }
    }

    /// Answers a request of the other side, beside everything else.
    fn answer(&self, id: RawJson, method: &str, params: Option<RawJson>) {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            let busy = Err(RpcError::new(BUSY, "too many requests at once"));
            return self.peer.shared.outbound.offer(Bytes::from(message::response(&id, &busy)));
        };
        let answer = self.handler.asked(&id, method, params);
        let owed = self.owed.note(self.peer.clone(), id);
        let (handler, method) = (Arc::clone(&self.handler), Box::<str>::from(method));
        self.answers.spawn(async move {
            owed.pay(answer).await;
            handler.answered(&method);
            drop(room);
        });
    }
}

/// Comes by the million, so it is read for itself and without a table of all members.
#[derive(Deserialize)]
struct Token {
    #[serde(rename = "progressToken")]
    token: serde_json::Value,
}

impl RawJson {
    /// The request of ours that the member `name` means.
    fn names(&self, name: &str) -> Option<u64> {
        let raw = self.member(name)?;
        match std::str::from_utf8(raw.as_bytes()).ok().and_then(Id::read)? {
            Id::Number(id) => Some(id),
            Id::Text(_) => None,
        }
    }
}

fn excerpt(line: &Bytes) -> String {
    // Four bytes hold the largest character, so this much is enough.
    let head = line.get(..EXCERPT_CHARS * 4).unwrap_or(line);
    cut(&String::from_utf8_lossy(head), EXCERPT_CHARS).into_owned()
}

/// Whether a line that is too long may be a message; the members behind its beginning are not known yet.
fn may_be_message(head: &Bytes) -> bool {
    let outline = salvage::Outline::of(head);
    outline.has_version || outline.has_outcome
}

fn is(id: Option<&Id>, call: u64) -> bool {
    id.is_none_or(|id| *id == Id::Number(call))
}

#[cfg(test)]
mod tests;
