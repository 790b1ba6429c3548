//! The sign-ins of a user, or of a principal of a gateway, one for each server.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::config::RemoteConfig;
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_wire::transport::http::Network;

use crate::account::{Account, AccountDependencies, AccountOwner, PrincipalSignIn};
use crate::identity::UserIdentity;
use crate::vault::Vault;
use crate::web::Web;

/// The sign-ins of a user, or of one principal of a gateway. Cheap to clone; all clones share one state.
#[derive(Clone, Debug)]
pub struct Accounts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: AccountsSettings,
    owner: AccountOwner,
    accounts: Mutex<HashMap<(ServerName, Signature), Account>>,
}

/// The services and settings that sign-ins use.
#[derive(Clone, Debug)]
pub struct AccountsSettings {
    /// The network settings.
    pub network: Network,
    /// The vault that stores sign-ins; without one they are held in memory only.
    pub vault: Option<Vault>,
    /// The identity provider, for servers that accept its sign-in.
    pub identity: Option<UserIdentity>,
    /// The folder in which files named by entries are looked up.
    pub folder: PathBuf,
}

impl Accounts {
    /// Creates the set without reading the vault or the network.
    #[must_use]
    pub fn new(settings: AccountsSettings) -> Self {
        Self(Arc::new(Inner { settings, owner: AccountOwner::User, accounts: Mutex::default() }))
    }

    /// The sign-ins of a principal of a gateway: separate from those of the user and of every other principal.
    ///
    /// The identity provider is left out: its sign-in is the user's.
    #[must_use]
    pub fn for_principal(&self, principal: &str, sign_in: PrincipalSignIn) -> Self {
        let settings = AccountsSettings { identity: None, ..self.0.settings.clone() };
        let owner = AccountOwner::Principal { name: Arc::from(principal), sign_in };
        Self(Arc::new(Inner { settings, owner, accounts: Mutex::default() }))
    }

    /// The sign-in to a server; all callers share one.
    #[must_use]
    pub fn account_for(&self, server: &ServerName, remote: &RemoteConfig) -> Account {
        let signature = Signature::from_remote(remote);
        let mut known = self.lock_accounts();
        let AccountsSettings { network, vault, identity, folder } = &self.0.settings;
        let account = known.entry((server.clone(), signature)).or_insert_with(|| {
            let ground = AccountDependencies {
                web: Web::new(network, remote.url.expose()),
                vault: vault.clone(),
                identity: identity.clone(),
                folder: folder.clone(),
                owner: self.0.owner.clone(),
            };
            Account::new(server, remote, ground)
        });
        account.clone()
    }

    /// The vault that stores secrets, if there is one.
    #[must_use]
    pub fn vault(&self) -> Option<&Vault> {
        self.0.settings.vault.as_ref()
    }

    /// The identity provider, if one is configured.
    #[must_use]
    pub fn identity(&self) -> Option<&UserIdentity> {
        self.0.settings.identity.as_ref()
    }

    /// Waits until the work that must not be interrupted is finished in every account.
    pub async fn finish_pending_writes(&self) {
        let known: Vec<Account> = self.lock_accounts().values().cloned().collect();
        for account in known {
            account.finish_pending_writes().await;
        }
    }

    fn lock_accounts(&self) -> MutexGuard<'_, HashMap<(ServerName, Signature), Account>> {
        self.0.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
