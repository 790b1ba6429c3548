//! The sessions of one client on two byte streams: one for each set of capabilities that its requests declare.
//!
//! Most clients have one session. In transparent mode a client of the new era that declares other capabilities
//! with another request gets a second one, whose server is offered those.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley::pool::client_offer::ClientOffer;
use mcparley::pool::principal::ClientIdentity;
use mcparley::pool::roots::Root;
use mcparley_wire::peer::{BoxedFuture, Handler, Peer};
use mcparley_wire::{Incoming, JsonPieces, Notice, RawJson, Replies, RpcError};
use serde_json::Value;
use tokio::task::AbortHandle;

use crate::client_abilities::{Caller, RequestMeta};
use crate::gateway::Gateway;
use crate::session::GatewaySession;

/// The sessions of one client.
#[derive(Debug)]
pub struct ClientSessions {
    gateway: Gateway,
    identity: Arc<ClientIdentity>,
    /// The roots of the client, if they are known before its handshake.
    given_roots: Option<Vec<Root>>,
    channel: OnceLock<Replies>,
    /// The capabilities of the handshake of the old era.
    agreed: Mutex<ClientOffer>,
    sessions: Mutex<HashMap<ClientOffer, RunningSession>>,
}

/// A session. Its background work and parked calls end when it is dropped.
#[derive(Debug)]
struct RunningSession {
    session: GatewaySession,
    background: AbortHandle,
}

impl ClientSessions {
    /// No sessions yet, of a client with this identity.
    #[must_use]
    pub fn new(gateway: &Gateway, identity: &Arc<ClientIdentity>) -> Self {
        Self {
            gateway: gateway.clone(),
            identity: Arc::clone(identity),
            given_roots: None,
            channel: OnceLock::new(),
            agreed: Mutex::default(),
            sessions: Mutex::default(),
        }
    }

    /// These sessions of a client with these roots.
    pub(crate) fn with_roots(self, roots: Vec<Root>) -> Self {
        Self { given_roots: Some(roots), ..self }
    }

    /// The session for a request: by the capabilities that it declares, or else those of the handshake.
    pub fn session_for(&self, method: &str, params: Option<&RawJson>) -> GatewaySession {
        if !self.gateway.tells_offers_apart() {
            return self.session_of(ClientOffer::default());
        }
        let declared = match method {
            "initialize" => params.and_then(|params| params.member("capabilities")?.decode::<Value>().ok()),
            _ => RequestMeta::parse(params).ok().and_then(|meta| meta.capabilities().cloned()),
        };
        let mut agreed = lock_ignoring_poison(&self.agreed);
        let offer = declared.map(|declared| Caller::offer_of(Some(&declared)));
        if method == "initialize" {
            *agreed = offer.unwrap_or_default();
        }
        let offer = offer.unwrap_or(*agreed);
        drop(agreed);
        self.session_of(offer)
    }

    /// Whether calls of the client wait for answers.
    #[must_use]
    pub fn has_parked_calls(&self) -> bool {
        lock_ignoring_poison(&self.sessions).values().any(|running| running.session.has_parked_calls())
    }

    fn session_of(&self, offer: ClientOffer) -> GatewaySession {
        let mut sessions = lock_ignoring_poison(&self.sessions);
        let running = sessions.entry(offer).or_insert_with(|| {
            let session = self.gateway.for_client(offer).open_session_for(&self.identity);
            if let Some(channel) = self.channel.get() {
                session.open_channel(channel.clone());
            }
            if let Some(roots) = &self.given_roots {
                session.give_roots(roots.clone());
            }
            let working = session.clone();
            let background = tokio::spawn(async move { working.run_background_work().await });
            RunningSession { session, background: background.abort_handle() }
        });
        running.session.clone()
    }
}

impl Handler for ClientSessions {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        self.session_for(&incoming.method, incoming.params.as_ref()).handle_request(incoming)
    }

    fn handle_request_in_pieces(
        &self,
        incoming: Incoming,
    ) -> BoxedFuture<'static, Result<JsonPieces, RpcError>> {
        self.session_for(&incoming.method, incoming.params.as_ref()).handle_request_in_pieces(incoming)
    }

    fn handle_notice(&self, notice: Notice) {
        let agreed = *lock_ignoring_poison(&self.agreed);
        self.session_of(agreed).handle_notice(notice);
    }

    fn on_connect(&self, peer: &Peer) {
        let _first = self.channel.set(Replies::over_peer(peer));
    }
}

impl Drop for RunningSession {
    fn drop(&mut self) {
        self.background.abort();
        self.session.cancel_parked_calls();
    }
}

fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one step, so a panic leaves no partial change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
