//! The sign-in to one server: the credentials its requests carry, and keeping them valid.
//!
//! An [`Account`] is one value for all connections to a server in a process. Its tokens are sent only to that
//! server and to the authorization server that issued them.
//!
//! | task | module |
//! |---|---|
//! | stored sign-ins, in memory and in the vault | `sign_in_cache` |
//! | credentials of requests, and the step after a refusal | `authority` |
//! | token renewal, one at a time for all callers | `renewal`, `single_flight` |
//! | tokens with the user's consent | `consent`, seen from outside as a [`Flow`](crate::Flow) |
//! | tokens without the user | `silent_sign_in` |
//! | tokens for the client of a gateway, by token exchange | `subject_token` |
//! | which grant an authorization server takes | `grant_choice` |
//! | the user or principal, and where browsers are sent back to | `owner` |
//! | whether the server says how to sign in | `sign_in_support` |
//! | our client registration, and the DPoP key of our tokens | `client`, `key` |
//! | signing out and revoking tokens | `sign_out` |
//! | waiting for a sign-in | `sign_ins` |

mod authority;
mod client;
mod consent;
mod grant_choice;
mod key;
#[cfg(test)]
mod model_checks;
mod owner;
mod renewal;
mod sign_in_cache;
mod sign_in_support;
mod sign_ins;
mod sign_out;
mod silent_sign_in;
mod single_flight;
mod subject_token;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use mcparley_model::config::{ConfiguredGrant, OauthConfig, RemoteConfig};
use mcparley_model::name::ServerName;
use tokio::sync::watch;
use url::Url;

use crate::flow::Inner as FlowInner;
use crate::identity::UserIdentity;
use crate::sign_in_record::SignInSlot;
use crate::task::TaskGroup;
use crate::vault::Vault;
use crate::web::Web;
use sign_in_cache::SignInCache;
use single_flight::SingleFlight;

pub(crate) use owner::AccountOwner;
pub use owner::PrincipalSignIn;
pub use sign_in_cache::SignInStatus;
pub use sign_ins::SignInWatcher;
pub use sign_out::SignOutOutcome;
pub use subject_token::{IssuedToken, SubjectTokenSource};

/// The sign-in to one server. Cheap to clone; all clones share one state.
#[derive(Clone)]
pub struct Account(Arc<Inner>);

struct Inner {
    slot: SignInSlot,
    server: ServerName,
    url: Url,
    oauth: OauthConfig,
    web: Web,
    /// The vault of the sign-in; exchanged tokens are in memory only.
    vault: Option<Vault>,
    /// The vault of the client's secret.
    secrets: Option<Vault>,
    identity: Option<UserIdentity>,
    /// The folder in which files named by the entry are looked up.
    folder: PathBuf,
    owner: AccountOwner,
    memory: Mutex<SignInCache>,
    /// Renewals in progress; a caller that needs the same tokens joins the running one.
    single_flight: SingleFlight,
    /// Held while the stored sign-in changes. A caller that waited for it reads the stored sign-in again.
    renewing: tokio::sync::Mutex<()>,
    /// Held for reading while an authorization code is redeemed: a code works once, and its tokens must be
    /// stored.
    redeeming: tokio::sync::RwLock<()>,
    /// The sign-in in progress; a second caller joins it.
    flow: tokio::sync::Mutex<Weak<FlowInner>>,
    /// The grant that the authorization server accepts, where the entry leaves the choice to it.
    learnt_grant: tokio::sync::OnceCell<ConfiguredGrant>,
    /// Whether the headers helper of the entry sends its own credentials.
    has_helper_credentials: AtomicBool,
    /// Counts the sign-ins of this process.
    sign_in_count: watch::Sender<u64>,
    tasks: TaskGroup,
}

/// The services an account needs besides the server's entry.
pub(crate) struct AccountDependencies {
    pub(crate) web: Web,
    pub(crate) vault: Option<Vault>,
    pub(crate) identity: Option<UserIdentity>,
    pub(crate) folder: PathBuf,
    pub(crate) owner: AccountOwner,
}

impl Account {
    pub(crate) fn new(server: &ServerName, remote: &RemoteConfig, ground: AccountDependencies) -> Self {
        let AccountDependencies { web, vault, identity, folder, owner } = ground;
        // The entry may place the authorization server on an address that is otherwise refused.
        let metadata = remote.oauth.as_ref().and_then(|oauth| oauth.auth_server_metadata_url.as_ref());
        let web = metadata.map_or_else(|| web.clone(), |place| web.with_trusted_place(place));
        let grant = remote.oauth.as_ref().map(|oauth| oauth.grant).unwrap_or_default();
        Self(Arc::new(Inner {
            slot: SignInSlot::for_server(server, remote, owner.principal()),
            server: server.clone(),
            url: remote.url.expose().clone(),
            oauth: remote.oauth.clone().unwrap_or_default(),
            web,
            vault: vault.clone().filter(|_| grant != ConfiguredGrant::TokenExchange),
            secrets: vault,
            identity,
            folder,
            owner,
            memory: Mutex::default(),
            single_flight: SingleFlight::default(),
            renewing: tokio::sync::Mutex::default(),
            redeeming: tokio::sync::RwLock::default(),
            flow: tokio::sync::Mutex::default(),
            learnt_grant: tokio::sync::OnceCell::new(),
            has_helper_credentials: AtomicBool::new(false),
            sign_in_count: watch::Sender::new(0),
            tasks: TaskGroup::default(),
        }))
    }

    /// Whether the sign-in is that of a principal of a gateway.
    #[must_use]
    pub fn has_principal(&self) -> bool {
        self.0.owner.principal().is_some()
    }

    /// Whether only the user can sign in.
    #[must_use]
    pub fn needs_user(&self) -> bool {
        match self.active_grant() {
            ConfiguredGrant::Person => true,
            ConfiguredGrant::ClientCredentials
            | ConfiguredGrant::JwtBearer
            | ConfiguredGrant::TokenExchange => false,
        }
    }

    /// Whether there are tokens that can be used or renewed.
    pub async fn has_tokens(&self) -> bool {
        self.read_sign_in().await.is_ok_and(|kept| kept.is_some_and(|kept| kept.is_usable(SystemTime::now())))
    }

    /// Whether the headers helper of the entry sends its own credentials, so that a sign-in would change
    /// nothing.
    #[must_use]
    pub fn has_helper_credentials(&self) -> bool {
        self.0.has_helper_credentials.load(Ordering::Relaxed)
    }

    pub(crate) fn set_helper_credentials(&self, says_who: bool) {
        self.0.has_helper_credentials.store(says_who, Ordering::Relaxed);
    }

    /// Whether the server can be reached without asking the user: there are tokens, or the identity provider
    /// already knows the user.
    pub async fn can_sign_in_silently(&self) -> bool {
        self.has_tokens().await || self.is_user_known().await
    }

    /// Waits until the work that must not be interrupted is finished: tokens that are being redeemed, renewed
    /// or stored.
    pub async fn finish_pending_writes(&self) {
        drop(self.0.redeeming.write().await);
        self.0.single_flight.wait_until_idle().await;
        // Other changes hold this lock until they are stored.
        let _alone = self.0.renewing.lock().await;
        self.save_unsaved().await;
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("server", &self.0.server).finish_non_exhaustive()
    }
}
