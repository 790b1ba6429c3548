//! Sends one request and waits for its response.

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::incoming::RequestId;
use super::pending::WaitingCall;
use super::progress::ProgressSender;
use super::{Peer, RequestTicket};
use crate::failure::{Failure, FailurePhase};
use crate::message;
use crate::params::{PeerRequestMeta, RequestParams};
use mcparley_json::RawJson;

/// Options of a request.
#[derive(Debug, Default)]
pub struct PeerCallOptions {
    /// Timeout for the response; `None` waits forever.
    pub limit: Option<Duration>,
    /// Receiver of the progress; the caller puts [`PreparedRequest::token`] into `_meta`.
    pub progress: Option<ProgressSender>,
    /// Whether giving up sends no cancellation. Set for the handshake.
    pub silent: bool,
    /// Parameters that are also sent as headers (`Mcp-Param-…`), in plain text. Transports without headers,
    /// and the old era, leave them out; headers of any other name are dropped.
    pub headers: Vec<(String, String)>,
}

/// Progress of a request, as the other side reports it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ProgressUpdate {
    /// The amount that is done.
    pub progress: f64,
    /// The total amount.
    #[serde(default)]
    pub total: Option<f64>,
    /// The current activity; text of the server.
    #[serde(default)]
    pub message: Option<String>,
    /// The parameters of the notification, as the other side wrote them.
    #[serde(skip)]
    pub raw: Option<RawJson>,
}

/// A request that has its id but was not sent yet, so that its id can be a progress token.
#[derive(Debug)]
pub struct PreparedRequest {
    peer: Peer,
    id: u64,
}

impl Peer {
    /// Allocates an id for a request.
    #[must_use]
    pub fn prepare_request(&self) -> PreparedRequest {
        PreparedRequest { peer: self.clone(), id: self.next_id() }
    }

    /// Sends a request and waits for its response. Dropping the future cancels the request.
    ///
    /// # Errors
    /// A [`Failure`]; a malformed response fails at once and not at the timeout.
    pub async fn call(
        &self,
        method: &str,
        params: Option<&RawJson>,
        options: PeerCallOptions,
    ) -> Result<RawJson, Failure> {
        self.prepare_request().call(method, params, options).await
    }
}

impl PreparedRequest {
    /// The identity of the request.
    #[must_use]
    pub fn id(&self) -> RequestId {
        self.peer.request_id(self.id)
    }

    /// The JSON-RPC id, which is also the progress token.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.id
    }

    /// Sends the request; see [`Peer::call`].
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call(
        self,
        method: &str,
        params: Option<&RawJson>,
        options: PeerCallOptions,
    ) -> Result<RawJson, Failure> {
        let request = message::encode_request(self.id, method, params);
        self.send_and_wait(request, options, None).await
    }

    /// Sends the request, with its parameters encoded in place.
    pub(crate) async fn call_with_params(
        self,
        method: &str,
        (params, always): (&RequestParams, &PeerRequestMeta),
        options: PeerCallOptions,
    ) -> Result<RawJson, Failure> {
        let request = message::encode_request_with(self.id, method, params, always);
        self.send_and_wait(request, options, None).await
    }

    /// Sends a request that stays open; `acknowledged` is notified when the other side has accepted it.
    pub(crate) async fn open_subscription(
        self,
        method: &str,
        params: Option<&RawJson>,
        acknowledged: oneshot::Sender<RawJson>,
    ) -> Result<RawJson, Failure> {
        let request = message::encode_request(self.id, method, params);
        self.send_and_wait(request, PeerCallOptions::default(), Some(acknowledged)).await
    }

    async fn send_and_wait(
        self,
        request: Vec<u8>,
        options: PeerCallOptions,
        acknowledged: Option<oneshot::Sender<RawJson>>,
    ) -> Result<RawJson, Failure> {
        let Self { peer, id } = self;
        let PeerCallOptions { limit, progress, silent, headers } = options;
        peer.check_open()?;
        let (answer, mut answered) = oneshot::channel();
        if !peer
            .shared
            .pending
            .insert_call(id, WaitingCall { answer, progress, subscription: acknowledged.into() })
        {
            peer.check_open()?;
        }
        let outbound = &peer.shared.outbound;
        let (until, ticket) = if outbound.uses_tickets() {
            let (until, over) = oneshot::channel();
            (Some(until), Some(RequestTicket { id, done: over, headers }))
        } else {
            (None, None)
        };
        let mut call = InFlight { peer: &peer, id, silent, sent: false, _until: until };
        let deadline = limit.map(|limit| Instant::now() + limit);
        let request = Bytes::from(request);
        let timed_out = |limit| Failure::TimedOut { phase: FailurePhase::Answering, after: limit };
        let work = async {
            match if ticket.is_none() { outbound.try_send(request) } else { Err(request) } {
                Ok(()) => {}
                Err(request) => outbound.send(request, ticket).await?,
            }
            call.sent = true;
            (&mut answered).await.unwrap_or(Err(Failure::Closed { exit: None, sent: true }))
        };
        let outcome = match (deadline, limit) {
            (Some(deadline), Some(limit)) => {
                tokio::time::timeout_at(deadline, work).await.unwrap_or_else(|_| Err(timed_out(limit)))
            }
            (None, _) | (_, None) => work.await,
        };
        drop(call);
        outcome
    }
}

/// A request that may still be answered; dropping it sends a cancellation.
struct InFlight<'p> {
    peer: &'p Peer,
    id: u64,
    silent: bool,
    sent: bool,
    /// Dropped with the request, which the transport may observe.
    _until: Option<oneshot::Sender<()>>,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let was_waiting = self.peer.shared.pending.remove_call(self.id);
        if !was_waiting || !self.sent || self.silent {
            return;
        }
        let params =
            RawJson::from_value(&json!({ "requestId": self.id, "reason": "the caller gave up" })).ok();
        let message = message::encode_notification("notifications/cancelled", params.as_ref());
        self.peer.shared.outbound.send_or_drop(Bytes::from(message));
        *self.peer.last_cancellation() = Some(Instant::now());
    }
}
