//! The state of one client's session. Its requests are answered in `request`.
//!
//! A session is independent of the transport: it is a [`mcparley_wire::peer::Handler`] that is given its
//! peer.

pub(crate) mod asked_pages;
pub(crate) mod client_tasks;
pub(crate) mod log_level;
pub(crate) mod parked;
pub(crate) mod parked_state;
pub(crate) mod roots;
pub(crate) mod running_call;
pub(crate) mod shared_values;
pub(crate) mod tool_list;
pub(crate) mod watches;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mcparley::Host;
use mcparley::catalog::CatalogEntry;
use mcparley::host::RefusedRequest;
use mcparley::model::limits::SERVED_SUBSCRIPTIONS;
use mcparley::pool::principal::{ClientIdentity, Principal, PrincipalId};
use mcparley_cluster::Seal;
use mcparley_wire::{ProtocolVersion, Replies};
use tokio::sync::Semaphore;

use crate::client_abilities::Caller;
use crate::gateway::Gateway;
use crate::request::outcome_slot::OutcomeSlot;
use crate::session::asked_pages::AskedPages;
use crate::session::client_tasks::ClientTasks;
use crate::session::log_level::WantedLogLevel;
use crate::session::parked::ParkedCalls;
use crate::session::roots::SessionRoots;
use crate::session::tool_list::ClientToolList;
use crate::session::watches::WatchedResources;

/// The word of the audit log for a sealed value of another client.
pub const STATE_MISUSE: &str = "state_misuse";

/// The number of the next session of this process: clients of two gateways are different principals.
static NEXT_SESSION: AtomicU64 = AtomicU64::new(1);

/// The session of one client. Cheap to clone; all clones are one session.
#[derive(Clone)]
pub struct GatewaySession {
    pub(crate) shared: Arc<Shared>,
    /// The principal of the current request, with the identity that was verified for it.
    principal: Arc<Principal>,
    /// The place for the outcome of the current request.
    pub(crate) outcome: OutcomeSlot,
}

/// State that all clones of a session share.
pub(crate) struct Shared {
    pub(crate) gateway: Gateway,
    /// The number of the session in this process.
    pub(crate) number: u64,
    /// Sends messages to the client outside of its requests.
    pub(crate) channel: OnceLock<Replies>,
    /// The client as negotiated in the `initialize` handshake of the old era.
    handshake: Mutex<Option<Caller>>,
    /// The name that the client gave itself in the handshake.
    pub(crate) client: OnceLock<Arc<str>>,
    pub(crate) listing: ClientToolList,
    pub(crate) parked: ParkedCalls,
    pub(crate) logging: WantedLogLevel,
    pub(crate) roots: SessionRoots,
    /// The pages that the client was asked to visit.
    pub(crate) pages: AskedPages,
    /// The tasks of the client.
    pub(crate) tasks: ClientTasks,
    /// The resources that the client is subscribed to.
    pub(crate) watches: WatchedResources,
    /// The session over HTTP, by whose id other gateways know it.
    pub(crate) http: OnceLock<HttpIdentity>,
    /// Held while the values of the session are loaded from other gateways.
    pub(crate) reloading: tokio::sync::Mutex<()>,
    /// Semaphore that limits the subscriptions.
    pub(crate) subscriptions: Semaphore,
}

/// The names of a session over HTTP.
#[derive(Clone, Debug)]
pub struct HttpIdentity {
    /// The value of `Mcp-Session-Id`.
    pub id: Arc<str>,
    /// The name of the session in the shared state.
    pub key: Arc<str>,
}

impl Gateway {
    /// Opens the session of a new client.
    #[must_use]
    pub fn open_session(&self) -> GatewaySession {
        GatewaySession::new(self.clone(), None)
    }

    /// Opens a session for a client with this identity. Each session is a principal of its own at the host,
    /// because log messages belong to the session that made the call.
    #[must_use]
    pub fn open_session_for(&self, identity: &Arc<ClientIdentity>) -> GatewaySession {
        let gateway = self.for_principal(&identity.account);
        self.store_token_of(identity);
        GatewaySession::new(gateway, Some(identity))
    }
}

impl GatewaySession {
    fn new(gateway: Gateway, identity: Option<&Arc<ClientIdentity>>) -> Self {
        let number = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        gateway.clients.fetch_add(1, Ordering::Relaxed);
        // A client on byte streams is a principal of its own.
        let principal = match identity {
            None => Principal::new(PrincipalId::new(&format!("stdio:{number}"))),
            Some(identity) => {
                let id = PrincipalId::new(&format!("{}:{number}", identity.account));
                Principal::with_identity(id, Arc::clone(identity))
            }
        };
        let shared = Shared {
            gateway,
            number,
            channel: OnceLock::new(),
            handshake: Mutex::default(),
            client: OnceLock::new(),
            listing: ClientToolList::default(),
            parked: ParkedCalls::default(),
            logging: WantedLogLevel::default(),
            roots: SessionRoots::default(),
            pages: AskedPages::default(),
            tasks: ClientTasks::default(),
            watches: WatchedResources::default(),
            http: OnceLock::new(),
            reloading: tokio::sync::Mutex::default(),
            subscriptions: Semaphore::new(SERVED_SUBSCRIPTIONS),
        };
        Self { shared: Arc::new(shared), principal: Arc::new(principal), outcome: OutcomeSlot::default() }
    }

    /// The session for one request, whose client was verified again: its token may be a newer one.
    #[must_use]
    pub fn for_request(&self, identity: &Arc<ClientIdentity>) -> Self {
        if Arc::ptr_eq(&self.principal.identity, identity) {
            return self.clone();
        }
        let principal = Principal::with_identity(self.principal.id.clone(), Arc::clone(identity));
        Self { principal: Arc::new(principal), ..self.clone() }
    }

    /// The principal of the current request.
    #[must_use]
    pub fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    /// The gateway that serves the client.
    #[must_use]
    pub fn serving_gateway(&self) -> &Gateway {
        &self.shared.gateway
    }

    /// The names of the session over HTTP, if it is one.
    #[must_use]
    pub fn http_identity(&self) -> Option<&HttpIdentity> {
        self.shared.http.get()
    }

    /// Gives the session its names over HTTP. The first names stay.
    pub fn set_http_identity(&self, identity: HttpIdentity) {
        let _first = self.shared.http.set(identity).is_ok();
    }

    /// The tool with this name in the client's view.
    #[must_use]
    pub fn find_tool(&self, name: &str) -> Option<Arc<CatalogEntry>> {
        self.shared.gateway.view().find_tool(name).map(Arc::clone)
    }

    /// Whether the gateway is a transparent bridge to one server.
    pub(crate) fn is_transparent(&self) -> bool {
        self.shared.gateway.mode.is_transparent()
    }

    /// The name of the principal, which all its sessions share.
    pub(crate) fn principal_name(&self) -> &str {
        &self.principal.identity.account
    }

    /// The name of the view that the client uses; the main endpoint has none.
    #[must_use]
    pub fn view_name(&self) -> Option<&str> {
        self.shared.gateway.name.as_deref()
    }

    /// The owner that values for the client are sealed for: its account, at this endpoint.
    pub(crate) fn seal_owner(&self) -> Cow<'_, str> {
        let account = self.principal_name();
        match self.view_name() {
            None => Cow::Borrowed(account),
            Some(view) => Cow::Owned(format!("{account}\0{view}")),
        }
    }

    /// Whether the gateway tells this principal apart from others, by its token.
    pub(crate) fn is_told_apart(&self) -> bool {
        self.principal.identity.is_told_apart()
    }

    /// Whether questions name their server, because there is more than one.
    pub(crate) fn names_servers(&self) -> bool {
        !self.is_transparent() && self.host().servers().len() > 1
    }

    pub(crate) fn host(&self) -> &Host {
        &self.shared.gateway.host
    }

    /// Records a sealed value that was not given to this client. One that has expired is no misuse.
    pub(crate) fn record_misuse(&self, place: &str, sealed: &str) {
        if Seal::is_in_use(sealed) {
            let client = Some(Arc::clone(&self.principal.identity));
            let (path, address) = (place.to_owned(), String::new());
            self.host().record_refusal(RefusedRequest { reason: STATE_MISUSE, path, address, client });
        }
    }

    /// Sets the channel for messages outside of the client's requests. A session has one; a second is
    /// ignored.
    pub fn open_channel(&self, channel: Replies) {
        let _first = self.shared.channel.set(channel);
    }

    /// The channel for messages outside of requests, once the client is connected.
    pub(crate) fn channel(&self) -> Option<&Replies> {
        self.shared.channel.get()
    }

    /// Whether calls wait for the client.
    #[must_use]
    pub fn has_parked_calls(&self) -> bool {
        self.shared.parked.has_calls()
    }

    /// Cancels the calls that wait for the client, which is gone.
    pub fn cancel_parked_calls(&self) {
        self.shared.parked.cancel_calls();
    }

    /// Locks the client's handshake of the old era, if there was one.
    pub(crate) fn lock_handshake(&self) -> MutexGuard<'_, Option<Caller>> {
        self.shared.handshake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client declared the roots capability.
    #[must_use]
    pub fn has_roots(&self) -> bool {
        self.lock_handshake().is_some_and(|caller| caller.abilities.roots)
    }

    /// The version that the client agreed to in the handshake of the old era.
    #[must_use]
    pub fn agreed_version(&self) -> Option<ProtocolVersion> {
        self.lock_handshake().map(|caller| caller.spoken.version())
    }

    /// Whether the client of the handshake shows the user interfaces of servers.
    pub(crate) fn has_apps(&self) -> bool {
        self.lock_handshake().is_some_and(|caller| caller.has_apps)
    }

    /// Whether the client did the handshake of the old era, so that it gets notifications without a
    /// subscription.
    #[must_use]
    pub fn has_handshake(&self) -> bool {
        self.lock_handshake().is_some()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.gateway.clients.fetch_sub(1, Ordering::Relaxed);
        self.gateway.roots.remove_client(self.number);
        if let Some(level) = self.gateway.log_levels.remove_client(self.number) {
            self.gateway.set_server_level(level);
        }
    }
}

impl std::fmt::Debug for GatewaySession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("number", &self.shared.number).finish_non_exhaustive()
    }
}
