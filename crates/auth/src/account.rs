//! The sign-in to one server: what its requests carry, and how that stays valid (A3, K4).
//!
//! One value for all connections to a server in a process. It shows its tokens to nobody but that server and whoever gave
//! them.
//!
//! | what | where |
//! |---|---|
//! | what is remembered, in memory and in the vault | `memory` |
//! | what requests carry, and what follows a refusal | `authority` |
//! | new tokens for old ones, once for everybody | `renewal`, `single_flight` |
//! | tokens with the consent of a person | `consent`, seen from outside as a [`Flow`](crate::Flow) |
//! | tokens without anybody | `alone` |
//! | which grant an authorization server takes | `offered_grant` |
//! | whether the server says how to sign in | `offered_sign_in` |
//! | who we are to an authorization server, and the key of our tokens | `client`, `key` |
//! | giving tokens back | `departure` |
//! | hearing of sign-ins | `sign_ins` |

mod alone;
mod authority;
mod client;
mod consent;
mod departure;
#[cfg(test)]
mod explored;
mod key;
mod memory;
mod offered_grant;
mod offered_sign_in;
mod renewal;
mod sign_ins;
mod single_flight;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use mcparley_model::config::{Grant, Oauth, Remote};
use mcparley_model::name::ServerName;
use tokio::sync::watch;
use url::Url;

use crate::flow::Inner as FlowInner;
use crate::identity::Identity;
use crate::record::Slot;
use crate::task::Tasks;
use crate::vault::Vault;
use crate::web::Web;
use memory::Memory;
use single_flight::SingleFlight;

pub(crate) use consent::answer;
pub use departure::SignedOut;
pub use memory::SignInStanding;
pub(crate) use renewal::RenewError;
pub use sign_ins::SignIns;

/// The sign-in to one server. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Account(Arc<Inner>);

struct Inner {
    slot: Slot,
    server: ServerName,
    url: Url,
    oauth: Oauth,
    web: Web,
    vault: Option<Vault>,
    identity: Option<Identity>,
    /// Where files that the entry names are looked for.
    folder: PathBuf,
    memory: Mutex<Memory>,
    /// Renewals that are under way; whoever wants the same joins.
    single_flight: SingleFlight,
    /// Held by whoever changes what is remembered: who waited looks again.
    renewing: tokio::sync::Mutex<()>,
    /// Held for reading while a code is redeemed: it is good once, and what it is good for must arrive.
    redeeming: tokio::sync::RwLock<()>,
    /// The sign-in that is under way; whoever wants one too joins it.
    flow: tokio::sync::Mutex<Weak<FlowInner>>,
    /// What the authorization server takes for a token, where the entry leaves that to it.
    learnt_grant: tokio::sync::OnceCell<Grant>,
    /// Whether a command of the entry says who we are.
    is_spoken_for: AtomicBool,
    /// Counts the sign-ins of this process.
    signed_in: watch::Sender<u64>,
    tasks: Tasks,
}

/// What an account is made of besides the server's entry.
pub(crate) struct Ground {
    pub(crate) web: Web,
    pub(crate) vault: Option<Vault>,
    pub(crate) identity: Option<Identity>,
    pub(crate) folder: PathBuf,
}

impl Account {
    pub(crate) fn new(server: &ServerName, remote: &Remote, ground: Ground) -> Self {
        let Ground { web, vault, identity, folder } = ground;
        // Where the entry says that the authorization server is, it may be.
        let metadata = remote.oauth.as_ref().and_then(|oauth| oauth.auth_server_metadata_url.as_ref());
        let web = metadata.map_or_else(|| web.clone(), |place| web.trusting(place));
        Self(Arc::new(Inner {
            slot: Slot::of(server, remote),
            server: server.clone(),
            url: remote.url.expose().clone(),
            oauth: remote.oauth.clone().unwrap_or_default(),
            web,
            vault,
            identity,
            folder,
            memory: Mutex::default(),
            single_flight: SingleFlight::default(),
            renewing: tokio::sync::Mutex::default(),
            redeeming: tokio::sync::RwLock::default(),
            flow: tokio::sync::Mutex::default(),
            learnt_grant: tokio::sync::OnceCell::new(),
            is_spoken_for: AtomicBool::new(false),
            signed_in: watch::Sender::new(0),
            tasks: Tasks::default(),
        }))
    }

    /// Whether it takes a person to sign in.
    #[must_use]
    pub fn takes_a_person(&self) -> bool {
        match self.grant() {
            Grant::Person => true,
            Grant::ClientCredentials | Grant::JwtBearer => false,
        }
    }

    /// Whether there are tokens that can be used or renewed.
    pub async fn has_tokens(&self) -> bool {
        self.read().await.is_ok_and(|kept| kept.is_some_and(|kept| kept.is_of_use(SystemTime::now())))
    }

    /// Whether a command of the entry says who we are, so that a sign-in would change nothing (A7).
    #[must_use]
    pub fn is_spoken_for(&self) -> bool {
        self.0.is_spoken_for.load(Ordering::Relaxed)
    }

    pub(crate) fn speak_for(&self, says_who: bool) {
        self.0.is_spoken_for.store(says_who, Ordering::Relaxed);
    }

    /// Whether it takes nobody to be let in: there are tokens, or somebody knows the person (A6).
    pub async fn has_a_way_in(&self) -> bool {
        self.has_tokens().await || self.is_person_known().await
    }

    /// Waits until nothing is under way that must not be torn: tokens that are being got for a code, renewed or
    /// written down.
    pub async fn settle(&self) {
        drop(self.0.redeeming.write().await);
        self.0.single_flight.settle().await;
        // Whoever changes something else holds it until that is safe.
        let _alone = self.0.renewing.lock().await;
        self.save().await;
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("server", &self.0.server).finish_non_exhaustive()
    }
}
