//! The state of one client's session. Its requests are answered in `request`.
//!
//! A session is independent of the transport: it is a [`mcparley_wire::peer::Handler`] that is given its
//! peer.

pub(crate) mod log_level;
pub(crate) mod parked;
pub(crate) mod roots;
pub(crate) mod running_call;
pub(crate) mod tool_list;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley::Host;
use mcparley::model::limits::SERVED_SUBSCRIPTIONS;
use mcparley::pool::principal::{Principal, PrincipalId};
use mcparley_wire::RawJson;
use mcparley_wire::peer::Peer;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::client_abilities::Caller;
use crate::gateway::Gateway;
use crate::session::log_level::WantedLogLevel;
use crate::session::parked::ParkedCalls;
use crate::session::roots::SessionRoots;
use crate::session::tool_list::ClientToolList;

/// The number of the next session of this process: clients of two gateways are different principals.
static NEXT_SESSION: AtomicU64 = AtomicU64::new(1);

/// The session of one client. Cheap to clone; all clones are one session.
#[derive(Clone)]
pub struct GatewaySession {
    pub(crate) shared: Arc<Shared>,
}

/// State that all clones of a session share.
pub(crate) struct Shared {
    pub(crate) gateway: Gateway,
    /// The number of the session in this process.
    pub(crate) number: u64,
    /// The principal that represents the client at the host.
    pub(crate) principal: Arc<Principal>,
    /// The peer of the client.
    pub(crate) peer: OnceLock<Peer>,
    /// The client as negotiated in the `initialize` handshake of the old era.
    handshake: Mutex<Option<Caller>>,
    pub(crate) listing: ClientToolList,
    pub(crate) parked: ParkedCalls,
    pub(crate) logging: WantedLogLevel,
    pub(crate) roots: SessionRoots,
    /// Semaphore that limits the subscriptions.
    pub(crate) subscriptions: Semaphore,
}

impl Gateway {
    /// Opens the session of a new client.
    #[must_use]
    pub fn open_session(&self) -> GatewaySession {
        GatewaySession::new(self.clone())
    }
}

impl GatewaySession {
    fn new(gateway: Gateway) -> Self {
        let number = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        gateway.clients.fetch_add(1, Ordering::Relaxed);
        let principal = Arc::new(Principal::new(PrincipalId::new(&format!("stdio:{number}"))));
        let shared = Shared {
            gateway,
            number,
            principal,
            peer: OnceLock::new(),
            handshake: Mutex::default(),
            listing: ClientToolList::default(),
            parked: ParkedCalls::default(),
            logging: WantedLogLevel::default(),
            roots: SessionRoots::default(),
            subscriptions: Semaphore::new(SERVED_SUBSCRIPTIONS),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.shared.gateway.host
    }

    /// The peer of the client, once it is connected.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.shared.peer.get()
    }

    /// Sends a notification; a failure is ignored, since the client is gone then.
    pub(crate) async fn send_notification(&self, method: &str, params: Option<Value>) {
        let params = params.and_then(|params| RawJson::from_value(&params).ok());
        if let Some(peer) = self.peer() {
            let _gone = peer.notify(method, params.as_ref()).await;
        }
    }

    /// Locks the client's handshake of the old era, if there was one.
    pub(crate) fn lock_handshake(&self) -> MutexGuard<'_, Option<Caller>> {
        self.shared.handshake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client declared the roots capability.
    pub(crate) fn has_roots(&self) -> bool {
        self.lock_handshake().is_some_and(|caller| caller.abilities.roots)
    }

    /// Whether the client did the handshake of the old era, so that it gets notifications without a
    /// subscription.
    pub(crate) fn has_handshake(&self) -> bool {
        self.lock_handshake().is_some()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.gateway.clients.fetch_sub(1, Ordering::Relaxed);
        self.gateway.roots.remove_client(self.number);
    }
}

impl std::fmt::Debug for GatewaySession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("number", &self.shared.number).finish_non_exhaustive()
    }
}
