//! Requests to a client of the old era; the responses come in other POSTs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcparley_model::limits::DOOR_CHANNEL_TIME;
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::served_message::{encode_notification_message, encode_request_message};
use mcparley_wire::{AskError, Delivery, Id, RawJson, ReplySink, RpcError};
use tokio::sync::oneshot;

use crate::event_stream::DoorStream;

/// The bits of an id behind the number of its gateway. Together they fit into the numbers of JavaScript.
const NUMBER_BITS: u32 = 32;

type ClientAnswer = Result<RawJson, RpcError>;

/// The open requests to one client.
#[derive(Debug, Default)]
pub(crate) struct OpenQuestions {
    /// The number of the gateway in its cluster, which begins every id; zero outside of a cluster.
    gateway: u32,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<ClientAnswer>>>,
}

/// Sends the replies of one request, or the messages of a session outside of requests, as events.
#[derive(Debug)]
pub(crate) struct StreamSink {
    pub(crate) stream: Arc<DoorStream>,
    /// The requests to the client; `None` in the new era, which has none.
    pub(crate) questions: Option<Arc<OpenQuestions>>,
    /// Whether a request waits until the stream has a reader.
    pub(crate) needs_reader: bool,
}

/// A request that was sent; canceled when it is dropped without an answer.
struct SentQuestion {
    number: u64,
    questions: Arc<OpenQuestions>,
    stream: Arc<DoorStream>,
}

impl OpenQuestions {
    /// No requests yet, at the gateway with this number in its cluster.
    pub(crate) fn new(gateway: u32) -> Self {
        Self { gateway, ..Self::default() }
    }

    /// The number of the gateway that has sent the request with this id; `None` for an id of no cluster.
    pub(crate) fn gateway_of(id: &Id) -> Option<(u32, u64)> {
        let Id::Number(number) = id else { return None };
        let gateway = u32::try_from(number >> NUMBER_BITS).ok().filter(|gateway| *gateway > 0)?;
        Some((gateway, *number))
    }

    fn next_number(&self) -> u64 {
        // Numbers begin at one: some clients take zero for a missing id.
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        (u64::from(self.gateway) << NUMBER_BITS) + number
    }

    /// Passes the response of the client to the request that waits for it. Returns whether one does.
    pub(crate) fn answer_question(&self, id: &Id, answer: ClientAnswer) -> bool {
        let Id::Number(number) = id else { return false };
        let waiting = self.lock_waiting().remove(number);
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    fn lock_waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<ClientAnswer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReplySink for StreamSink {
    fn send_notification(&self, message: Bytes) -> Delivery {
        self.stream.push_notification(message)
    }

    fn send_request(
        self: Arc<Self>,
        method: &'static str,
        params: RawJson,
    ) -> BoxedFuture<'static, Result<RawJson, AskError>> {
        Box::pin(async move {
            let Some(questions) = &self.questions else { return Err(AskError::Gone) };
            if self.needs_reader {
                let reader = tokio::time::timeout(DOOR_CHANNEL_TIME, self.stream.wait_for_reader()).await;
                if !reader.unwrap_or(false) {
                    return Err(AskError::Gone);
                }
            }
            let number = questions.next_number();
            let (sender, answer) = oneshot::channel();
            questions.lock_waiting().insert(number, sender);
            let sent =
                SentQuestion { number, questions: Arc::clone(questions), stream: Arc::clone(&self.stream) };
            let message = encode_request_message(number, method, Some(&params));
            if sent.stream.push_request(message) != Delivery::Sent {
                return Err(AskError::Gone);
            }
            tokio::select! {
                answer = answer => match answer {
                    Ok(Ok(result)) => Ok(result),
                    Ok(Err(error)) => Err(AskError::Refused(error)),
                    Err(_) => Err(AskError::Gone),
                },
                () = sent.stream.wait_until_gone() => Err(AskError::Gone),
            }
        })
    }

    fn wait_until_gone(self: Arc<Self>) -> BoxedFuture<'static, ()> {
        Box::pin(async move { self.stream.wait_until_gone().await })
    }
}

impl Drop for SentQuestion {
    fn drop(&mut self) {
        if self.questions.lock_waiting().remove(&self.number).is_some() {
            let params = RawJson::from_text(&format!(r#"{{"requestId":{}}}"#, self.number));
            let message = encode_notification_message("notifications/cancelled", Some(&params));
            let _delivery = self.stream.push_notification(message);
        }
    }
}
