//! One request and its answer.

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::pending::Waiting;
use super::{Peer, Ticket};
use crate::failure::{Failure, Phase};
use crate::json::RawJson;
use crate::message;
use crate::params::{Meta, Params};

/// How a request is made.
#[derive(Debug, Default)]
pub struct CallOptions {
    /// How long to wait for the answer; absent means for ever.
    pub limit: Option<Duration>,
    /// Where the newest progress goes; the caller puts [`Prepared::token`] into `_meta`.
    pub progress: Option<watch::Sender<Option<Progress>>>,
    /// Whether giving up is told to the other side. Not so for the handshake.
    pub silent: bool,
    /// What the request says in its headers too (`Mcp-Param-…`), in plain text. Transports without headers, and
    /// the old era, leave it out; so is every header of another name.
    pub headers: Vec<(String, String)>,
}

/// How far the other side is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Progress {
    /// How much is done.
    pub progress: f64,
    /// How much there is to do.
    #[serde(default)]
    pub total: Option<f64>,
    /// What is being done; text of the server.
    #[serde(default)]
    pub message: Option<String>,
}

/// A request that has its id but was not sent yet, so that its id can be a progress token.
#[derive(Debug)]
pub struct Prepared {
    peer: Peer,
    id: u64,
}

impl Peer {
    /// Takes an id for a request.
    #[must_use]
    pub fn prepare(&self) -> Prepared {
        Prepared { peer: self.clone(), id: self.next_id() }
    }

    /// Makes a request and waits for its answer. Dropping the future gives the request up.
    ///
    /// # Errors
    /// A [`Failure`]; also when the answer is damaged, at once and not at the limit.
    pub async fn call(
        &self,
        method: &str,
        params: Option<&RawJson>,
        options: CallOptions,
    ) -> Result<RawJson, Failure> {
        self.prepare().call(method, params, options).await
    }
}

impl Prepared {
    /// The id, which is also the token progress comes under.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.id
    }

    /// Makes the request; see [`Peer::call`].
    ///
    /// # Errors
    /// A [`Failure`].
    pub async fn call(
        self,
        method: &str,
        params: Option<&RawJson>,
        options: CallOptions,
    ) -> Result<RawJson, Failure> {
        let request = message::request(self.id, method, params);
        self.make(request, options, None).await
    }

    /// Makes the request, with parameters that are written where they stand.
    pub(crate) async fn call_with(
        self,
        method: &str,
        (params, always): (&Params, &Meta),
        options: CallOptions,
    ) -> Result<RawJson, Failure> {
        let request = message::request_with(self.id, method, params, always);
        self.make(request, options, None).await
    }

    /// Makes a request that stays open; `acknowledged` hears when the other side has taken it.
    pub(crate) async fn subscribe(
        self,
        method: &str,
        params: Option<&RawJson>,
        acknowledged: oneshot::Sender<RawJson>,
    ) -> Result<RawJson, Failure> {
        let request = message::request(self.id, method, params);
        self.make(request, CallOptions::default(), Some(acknowledged)).await
    }

    async fn make(
        self,
        request: Vec<u8>,
        options: CallOptions,
        acknowledged: Option<oneshot::Sender<RawJson>>,
    ) -> Result<RawJson, Failure> {
        let Self { peer, id } = self;
        let CallOptions { limit, progress, silent, headers } = options;
        peer.check()?;
        let (answer, mut answered) = oneshot::channel();
        if !peer.shared.pending.insert(id, Waiting { answer, progress, stays: acknowledged.into() }) {
            peer.check()?;
        }
        let outbound = &peer.shared.outbound;
        let (until, ticket) = if outbound.takes_tickets() {
            let (until, over) = oneshot::channel();
            (Some(until), Some(Ticket { id, over, headers }))
        } else {
            (None, None)
        };
        let mut call = InFlight { peer: &peer, id, silent, sent: false, _until: until };
        let deadline = limit.map(|limit| Instant::now() + limit);
        let request = Bytes::from(request);
        let timed_out = |limit| Failure::TimedOut { phase: Phase::Answering, after: limit };
        let work = async {
            match if ticket.is_none() { outbound.push(request) } else { Err(request) } {
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

/// A request that may still be answered; dropping it gives it up.
struct InFlight<'p> {
    peer: &'p Peer,
    id: u64,
    silent: bool,
    sent: bool,
    /// Its transport sees the end of this, if it looks.
    _until: Option<oneshot::Sender<()>>,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let was_waiting = self.peer.shared.pending.forget(self.id);
        if !was_waiting || !self.sent || self.silent {
            return;
        }
        let params = RawJson::of(&json!({ "requestId": self.id, "reason": "the caller gave up" })).ok();
        let message = message::notification("notifications/cancelled", params.as_ref());
        self.peer.shared.outbound.offer(Bytes::from(message));
        *self.peer.gave_up() = Some(Instant::now());
    }
}
