//! One client: which of its requests goes where.
//!
//! A session is a value that knows nothing of what carries its messages: it is a [`Handler`] that is given its end of the
//! conversation. Dropping the future of an answer gives the request up, with everything that it waits for.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mcparley::Host;
use mcparley::model::limits::SERVED_SUBSCRIPTIONS;
use mcparley_wire::peer::{Boxed, Handler, Peer};
use mcparley_wire::{INTERNAL, METHOD_NOT_FOUND, RawJson, RpcError};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::caller::{Caller, Meta};
use crate::gateway::Gateway;
use crate::greeting;
use crate::instructions;
use crate::listing::Listing;
use crate::logging::Logging;
use crate::parked::Parked;
use crate::roots::SessionRoots;
use crate::strict;

/// How often it is looked for calls that wait too long.
const SWEEP: Duration = Duration::from_secs(30);

/// One client. Cheap to clone; all clones are one session.
#[derive(Clone)]
pub struct Session {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) gateway: Gateway,
    /// Tells this client's calls from those of others.
    pub(crate) number: u64,
    /// Our end of the conversation.
    peer: OnceLock<Peer>,
    /// What was agreed on in the old way.
    agreed: Mutex<Option<Caller>>,
    pub(crate) listing: Listing,
    pub(crate) parked: Parked,
    pub(crate) logging: Logging,
    pub(crate) roots: SessionRoots,
    /// Room for subscriptions.
    pub(crate) subscriptions: Semaphore,
}

impl Session {
    pub(crate) fn new(gateway: Gateway, number: u64) -> Self {
        let shared = Shared {
            gateway,
            number,
            peer: OnceLock::new(),
            agreed: Mutex::default(),
            listing: Listing::default(),
            parked: Parked::default(),
            logging: Logging::default(),
            roots: SessionRoots::default(),
            subscriptions: Semaphore::new(SERVED_SUBSCRIPTIONS),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.shared.gateway.host
    }

    /// Our end of the conversation, once there is one.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.shared.peer.get()
    }

    /// Does what nobody asks for: tells a client of the old era that its list has changed and what servers log, and gives
    /// up calls that have waited too long. Never ends; to be dropped with the conversation.
    pub async fn attend(&self) {
        let sweep = async {
            loop {
                tokio::time::sleep(SWEEP).await;
                self.shared.parked.sweep();
            }
        };
        tokio::select! {
            () = self.tell_changes() => {}
            () = self.tell_logs() => {}
            () = self.follow_roots() => {}
            () = sweep => {}
        }
    }

    async fn answer(&self, id: &RawJson, method: &str, params: Option<RawJson>) -> Result<RawJson, RpcError> {
        params.as_ref().map_or(Ok(()), strict::check)?;
        let params = params.as_ref();
        let meta = Meta::read(params)?;
        match method {
            // Both may come before anything else.
            "ping" if !meta.names_version() => return written(&json!({})),
            "server/discover" if !meta.names_version() => {
                return self.discover().await;
            }
            _ => {}
        }
        let agreed = *self.agreed();
        let caller = Caller::of(&meta, agreed)?;
        if agreed.is_none() {
            self.expect_roots(caller);
        }
        match (method, caller.is_new()) {
            ("server/discover", true) => self.discover().await,
            ("tools/list", _) => self.list(&caller, params).await,
            ("tools/call", _) => Box::pin(self.call(caller, params, meta.progress_token)).await,
            ("subscriptions/listen", true) => Box::pin(self.listen(id, params)).await,
            ("logging/setLevel", false) => self.set_level(params),
            _ => {
                Err(RpcError::new(METHOD_NOT_FOUND, &format!("there is no method `{}` here", shown(method))))
            }
        }
    }

    /// Agrees on a revision, as `initialize` asks for.
    fn agree(&self, params: Option<&RawJson>) -> Result<Caller, RpcError> {
        params.map_or(Ok(()), strict::check)?;
        let caller = greeting::agree(params)?;
        *self.agreed() = Some(caller);
        self.expect_roots(caller);
        Ok(caller)
    }

    /// Answers `initialize`, once the servers of which nothing is remembered have said how they want to be used.
    async fn greet(&self, caller: &Caller) -> Result<RawJson, RpcError> {
        self.await_unknown_servers().await;
        written(&greeting::initialized(caller, &instructions::of(self.host())))
    }

    /// Answers `server/discover`, as late as [`Session::greet`] would.
    async fn discover(&self) -> Result<RawJson, RpcError> {
        self.await_unknown_servers().await;
        written(&greeting::discover(&instructions::of(self.host())))
    }

    fn agreed(&self) -> MutexGuard<'_, Option<Caller>> {
        self.shared.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client has said that it has roots.
    pub(crate) fn has_roots(&self) -> bool {
        self.agreed().is_some_and(|caller| caller.can.roots)
    }

    /// Whether the client has greeted us in the old way, so that it is told of changes unasked.
    pub(crate) fn is_greeted(&self) -> bool {
        self.agreed().is_some()
    }
}

/// A result of ours.
pub(crate) fn written(value: &impl serde::Serialize) -> Result<RawJson, RpcError> {
    RawJson::of(value).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
}

fn shown(method: &str) -> String {
    mcparley::model::text::display(&method.chars().take(64).collect::<String>()).into_owned()
}

impl Handler for Session {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        // Only a subscription needs its id, and without one it is nobody's.
        match written(&Value::Null) {
            Ok(nobody) => self.asked(&nobody, method, params),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn asked(
        &self,
        id: &RawJson,
        method: &str,
        params: Option<RawJson>,
    ) -> Boxed<'static, Result<RawJson, RpcError>> {
        if method == "initialize" {
            // Agreed on at once, so that what follows it finds it done.
            let (session, agreed) = (self.clone(), self.agree(params.as_ref()));
            return Box::pin(async move { session.greet(&agreed?).await });
        }
        let (session, id, method) = (self.clone(), id.clone(), method.to_owned());
        Box::pin(async move { session.answer(&id, &method, params).await })
    }

    fn notification(&self, method: &str, _params: Option<RawJson>) {
        // That a request is taken back is heard before it comes here.
        if let "notifications/initialized" | "notifications/roots/list_changed" = method {
            self.ask_for_roots();
        }
    }

    fn joined(&self, peer: &Peer) {
        // A session has one conversation.
        let _first = self.shared.peer.set(peer.clone());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.gateway.roots.forget(self.number);
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("number", &self.shared.number).finish_non_exhaustive()
    }
}
