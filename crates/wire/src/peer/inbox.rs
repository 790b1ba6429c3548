//! Dispatches inbound messages: answers to their callers, requests and notifications to the handler.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use mcparley_model::limits::{EXCERPT_CHARS, INBOUND_REQUESTS, SERVED_REQUESTS};
use mcparley_model::text::{Untrusted, truncate_text};
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::call::ProgressUpdate;
use super::incoming::{Cause, Incoming, Notice};
use super::owed_answers::OwedAnswers;
use super::refusal::{self, MessageRefusal};
use super::replies::Replies;
use super::{Handler, Peer};
use crate::failure::{Damage, Failure, RpcError};
use crate::frame::Frame;
use crate::message::{self, DamagedForm, Id, RpcMessage};
use crate::salvage;
use crate::task::OwnedTasks;
use mcparley_json::RawJson;

/// Error code: too many concurrent requests of the other side.
const BUSY: i64 = -32000;

/// The receiving end of a peer, for transports.
#[derive(Clone)]
pub(crate) struct Inbox {
    peer: Peer,
    handler: Arc<dyn Handler>,
    /// Limit of one message in bytes.
    limit: usize,
    /// Requests of the other side that are being answered; they are aborted with the connection.
    answers: Arc<OwnedTasks>,
    owed: Arc<OwedAnswers>,
    room: Arc<Semaphore>,
    strays: Arc<StrayCounters>,
    /// Whether malformed messages are refused: a client waits for a response to them.
    refuses: bool,
}

#[derive(Debug, Default)]
struct StrayCounters {
    noise: AtomicU64,
    unclaimed: AtomicU64,
    /// The beginning of the first line that was no message: often enough to recognize its origin.
    first: OnceLock<String>,
}

/// Whether a line, or a part of it, is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Message,
    Noise,
}

/// Counts of inbound data that belonged to no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrayCounts {
    /// Lines that were no messages.
    pub noise: u64,
    /// Responses to no request of ours, and malformed messages that name none.
    pub unclaimed: u64,
}

/// A live view on the inbound data that belonged to no request.
#[derive(Clone, Debug)]
pub struct StrayRecord(Arc<StrayCounters>);

impl StrayRecord {
    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> StrayCounts {
        self.0.counts()
    }

    /// The beginning of the first line that was no message.
    #[must_use]
    pub fn first_line(&self) -> Option<Untrusted> {
        self.0.first.get().map(|line| Untrusted::new(line.as_str()))
    }
}

impl StrayCounters {
    fn counts(&self) -> StrayCounts {
        StrayCounts {
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
            refuses: false,
        }
    }

    /// The inbox of a server: it accepts more concurrent requests, and refuses malformed messages.
    pub(crate) fn for_server(self) -> Self {
        Self { room: Arc::new(Semaphore::new(SERVED_REQUESTS)), refuses: true, ..self }
    }

    /// Waits until no request of the other side is being answered.
    pub(crate) async fn wait_until_idle(&self) {
        // Acquires all permits of the semaphore; an error would mean that no request is answered either.
        let _all = self.room.acquire_many(u32::try_from(SERVED_REQUESTS).unwrap_or(u32::MAX)).await;
    }

    /// Aborts the requests that are being answered.
    pub(crate) fn abort_answers(&self) {
        self.answers.abort_all();
    }

    /// Limit of one message in bytes.
    pub(crate) fn message_limit(&self) -> usize {
        self.limit
    }

    /// Receives a frame of a stream of lines.
    pub(crate) fn deliver_frame(&self, frame: Frame) {
        let too_large = Failure::TooLarge { limit: self.limit };
        match frame {
            Frame::Line(line) => self.deliver_message(&line),
            Frame::TooLong { head } if self.refuses => self.refuse_by_head(&head),
            Frame::TooLong { head } => {
                if may_be_message(&head) {
                    self.fail_matching_call(salvage::find_id(&head), &too_large)
                } else {
                    self.count_stray(&head)
                }
            }
            Frame::TooLongEnd { head, tail } if self.refuses => self.refuse_by_tail(&head, &tail),
            // An id at the end may be nested deep, so it counts only when the beginning names no call.
            Frame::TooLongEnd { head, tail } => {
                if let (true, None, Some(id)) =
                    (may_be_message(&head), salvage::find_id(&head), salvage::find_last_id(&tail))
                {
                    self.peer.shared.pending.answer_call(&id, Err(too_large));
                }
            }
        }
    }

    /// Receives one message of the channel that all requests share.
    pub(crate) fn deliver_message(&self, line: &Bytes) {
        let messages = message::parse_messages(line);
        if self.refuses {
            refusal::refusals_for_line(line, &messages).for_each(|refusal| self.send_refusal(&refusal));
        }
        let mut is_stray = messages.is_empty();
        for message in messages {
            is_stray |= self.dispatch_message(message, Cause::Connection) == LineKind::Noise;
        }
        if is_stray {
            self.count_stray(line);
        }
    }

    /// Receives one message of the stream of one request, on which only that request may be answered. Returns
    /// whether it now is.
    pub(crate) fn deliver_to_call(&self, call: u64, line: &Bytes) -> bool {
        let mut answered = false;
        for message in message::parse_messages(line) {
            let outcome = match message {
                RpcMessage::Response { id: Some(Id::Number(id)), outcome } if id == call => {
                    outcome.map_err(Failure::ErrorResponse)
                }
                // An error that names no request can only be for the one that this stream belongs to.
                RpcMessage::Response { id: None, outcome: Err(error) } => Err(Failure::ErrorResponse(error)),
                RpcMessage::Damaged { id, damage, form: _ } if may_name(id.as_ref(), call) => {
                    Err(Failure::Damaged(damage))
                }
                RpcMessage::Response { .. } | RpcMessage::Damaged { .. } => {
                    self.count_unclaimed();
                    continue;
                }
                RpcMessage::Request { .. } | RpcMessage::Notification { .. } | RpcMessage::Noise => {
                    if self.dispatch_message(message, Cause::Ours(self.peer.request_id(call)))
                        == LineKind::Noise
                    {
                        self.count_stray(line);
                    }
                    continue;
                }
            };
            if self.peer.shared.pending.answer_call(&Id::Number(call), outcome) {
                answered = true;
            } else {
                self.count_unclaimed();
            }
        }
        answered
    }

    /// Fails one call; ignored if it has its response already.
    pub(crate) fn fail_call(&self, call: u64, failure: Failure) {
        self.peer.shared.pending.answer_call(&Id::Number(call), Err(failure));
    }

    /// Ends the connection.
    pub(crate) fn close_connection(&self, failure: &Failure) {
        self.answers.abort_all();
        self.peer.end_connection(failure, failure);
    }

    /// Ends the connection because the server cannot be reached any more. One exchange noticed it; the
    /// requests of the others may have been executed.
    pub(crate) fn lose_connection(&self, why: &Failure) {
        self.answers.abort_all();
        self.peer.end_connection(why, &Failure::Closed { exit: None, sent: true });
    }

    /// Waits until the connection has ended.
    pub(crate) async fn wait_until_ended(&self) {
        self.peer.wait_until_ended().await;
    }

    /// Counts of inbound data that belonged to no request so far.
    pub(crate) fn stray_counts(&self) -> StrayCounts {
        self.strays.counts()
    }

    /// The stray record, readable also after the end of the connection.
    pub(crate) fn stray_record(&self) -> StrayRecord {
        StrayRecord(Arc::clone(&self.strays))
    }

    fn dispatch_message(&self, message: RpcMessage, cause: Cause) -> LineKind {
        match message {
            RpcMessage::Response { id: Some(id), outcome } => {
                let answer = outcome.map_err(Failure::ErrorResponse);
                if !self.peer.shared.pending.answer_call(&id, answer) {
                    self.count_unclaimed();
                }
            }
            // An error without an id is for the request that the other side could not read.
            RpcMessage::Response { id: None, outcome: Err(error) } => {
                self.fail_matching_call(None, &Failure::ErrorResponse(error))
            }
            RpcMessage::Response { id: None, outcome: Ok(_) } => self.count_unclaimed(),
            RpcMessage::Damaged { id, damage, form } => return self.dispatch_damaged(id, damage, form),
            RpcMessage::Request { id, .. } if self.refuses && !refusal::is_id(&id) => self.count_unclaimed(),
            RpcMessage::Request { id, method, params } => {
                let replies = Replies::over_peer(&self.peer);
                self.answer_request(Incoming { id, method, params, cause, replies });
            }
            RpcMessage::Notification { method, params } => {
                self.receive_notice(Notice { method, params, cause })
            }
            RpcMessage::Noise => return LineKind::Noise,
        }
        LineKind::Message
    }

    /// Fails the call that a malformed message was to answer. A line that has only the braces of a message is
    /// noise, and one without a version is a message only if it names a call that waits.
    fn dispatch_damaged(&self, id: Option<Id>, damage: Damage, form: DamagedForm) -> LineKind {
        let failure = Failure::Damaged(damage);
        match form {
            DamagedForm::Foreign => return LineKind::Noise,
            DamagedForm::Unversioned => {
                let is_open = id.is_some_and(|id| self.peer.shared.pending.answer_call(&id, Err(failure)));
                return if is_open { LineKind::Message } else { LineKind::Noise };
            }
            DamagedForm::Request => self.count_unclaimed(),
            DamagedForm::Answer => self.fail_matching_call(id, &failure),
        }
        LineKind::Message
    }

    /// Fails the call with this id, or without an id the only one that waits.
    pub(crate) fn fail_matching_call(&self, id: Option<Id>, failure: &Failure) {
        let pending = &self.peer.shared.pending;
        let claimed = match id {
            Some(id) => pending.answer_call(&id, Err(failure.clone())),
            None => pending.answer_only_call(Err(failure.clone())),
        };
        if !claimed {
            self.count_unclaimed();
        }
    }

    /// Sends the refusal of a message; dropped if the other side does not read.
    fn send_refusal(&self, refusal: &MessageRefusal) {
        self.peer.shared.outbound.send_or_drop(Bytes::from(refusal.to_message()));
    }

    fn refuse_by_head(&self, head: &Bytes) {
        if let Some(id) = salvage::find_id(head) {
            self.send_refusal(&MessageRefusal::too_large(Some(id)));
        }
    }

    /// Refuses an oversized message by the id at its end, if its beginning had none.
    fn refuse_by_tail(&self, head: &Bytes, tail: &Bytes) {
        if salvage::find_id(head).is_none() {
            self.send_refusal(&MessageRefusal::too_large(salvage::find_last_id(tail)));
        }
    }

    fn count_stray(&self, line: &Bytes) {
        self.strays.first.get_or_init(|| line_excerpt(line));
        self.strays.noise.fetch_add(1, Ordering::Relaxed);
    }

    fn count_unclaimed(&self) {
        self.strays.unclaimed.fetch_add(1, Ordering::Relaxed);
    }

    /// Dispatches progress and acknowledgements to the request they belong to, and every other notification
    /// to the handler.
    fn receive_notice(&self, notice: Notice) {
        let pending = &self.peer.shared.pending;
        match (&*notice.method, &notice.params) {
            ("notifications/progress", params) => {
                let token = params.as_ref().and_then(|params| params.decode::<ProgressTokenParams>().ok());
                let token = token.and_then(|token| Id::parse(&token.token.to_string()));
                let progress = params.as_ref().and_then(|params| params.decode::<ProgressUpdate>().ok());
                if let (Some(Id::Number(id)), Some(progress)) = (token, progress) {
                    pending.send_progress(id, ProgressUpdate { raw: params.clone(), ..progress });
                }
                return;
            }
            ("notifications/subscriptions/acknowledged", params) => {
                let meta = params.as_ref().and_then(|params| params.member("_meta"));
                let id = meta.and_then(|meta| request_id(&meta, "io.modelcontextprotocol/subscriptionId"));
                if let (Some(id), Some(params)) = (id, params) {
                    pending.acknowledge_subscription(id, params.clone());
                }
                return;
            }
            ("notifications/cancelled", Some(params)) => {
                if let Some(id) = request_id(params, "requestId") {
                    pending.end_subscription(id);
                }
                if let Some(id) = params.member("requestId") {
                    self.owed.cancel_request(&id);
                }
            }
            (_, _) => {}
        }
        self.handler.handle_notice(notice);
    }

    /// Answers a request of the other side, in a task of its own.
    fn answer_request(&self, incoming: Incoming) {
        let id = incoming.id.clone();
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            let busy = RpcError::new(BUSY, "too many requests at once");
            self.peer.shared.outbound.send_or_drop(Bytes::from(message::encode_error(Some(&id), &busy)));
            return;
        };
        let (handler, method) = (Arc::clone(&self.handler), incoming.method.clone());
        let answer = self.handler.handle_request_in_pieces(incoming);
        let owed = self.owed.add_request(self.peer.clone(), id);
        self.answers.spawn(async move {
            owed.send_answer(answer).await;
            handler.on_request_done(&method);
            drop(room);
        });
    }
}

/// The token of a progress notification, which comes by the million: parsed without a table of all members.
#[derive(Deserialize)]
struct ProgressTokenParams {
    #[serde(rename = "progressToken")]
    token: serde_json::Value,
}

/// The id of our request in the member `name` of `params`.
fn request_id(params: &RawJson, name: &str) -> Option<u64> {
    let raw = params.member(name)?;
    match std::str::from_utf8(raw.as_bytes()).ok().and_then(Id::parse)? {
        Id::Number(id) => Some(id),
        Id::Text(_) => None,
    }
}

fn line_excerpt(line: &Bytes) -> String {
    // Four bytes hold the largest character, so this much is enough.
    let head = line.get(..EXCERPT_CHARS * 4).unwrap_or(line);
    truncate_text(&String::from_utf8_lossy(head), EXCERPT_CHARS).into_owned()
}

/// Whether an oversized line may be a message; only the members at its beginning are known.
fn may_be_message(head: &Bytes) -> bool {
    let outline = salvage::MessageOutline::from_bytes(head);
    outline.has_version || outline.has_outcome
}

fn may_name(id: Option<&Id>, call: u64) -> bool {
    id.is_none_or(|id| *id == Id::Number(call))
}

#[cfg(test)]
mod tests;
