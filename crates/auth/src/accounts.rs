//! All sign-ins of a user.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::config::Remote;
use mcparley_model::name::ServerName;
use mcparley_model::signature::Signature;
use mcparley_wire::transport::http::Network;

use crate::account::{Account, Ground};
use crate::identity::Identity;
use crate::vault::Vault;
use crate::web::Web;

/// All sign-ins of a user. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Accounts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: AccountsSettings,
    known: Mutex<HashMap<(ServerName, Signature), Account>>,
}

/// What sign-ins are made with.
#[derive(Debug)]
pub struct AccountsSettings {
    /// The way to the network.
    pub network: Network,
    /// Where they are kept; without one, in memory only.
    pub vault: Option<Vault>,
    /// Who knows the person, for servers that ask there.
    pub identity: Option<Identity>,
    /// Where files that entries name are looked for.
    pub folder: PathBuf,
}

impl Accounts {
    /// Does nothing yet.
    #[must_use]
    pub fn new(settings: AccountsSettings) -> Self {
        Self(Arc::new(Inner { settings, known: Mutex::default() }))
    }

    /// The sign-in to a server, one for all who ask.
    #[must_use]
    pub fn of(&self, server: &ServerName, remote: &Remote) -> Account {
        let signature = Signature::of_remote(remote);
        let mut known = self.known();
        let AccountsSettings { network, vault, identity, folder } = &self.0.settings;
        let account = known.entry((server.clone(), signature)).or_insert_with(|| {
            let ground = Ground {
                web: Web::new(network, remote.url.expose()),
                vault: vault.clone(),
                identity: identity.clone(),
                folder: folder.clone(),
            };
            Account::new(server, remote, ground)
        });
        account.clone()
    }

    /// Where secrets are kept, if anywhere.
    #[must_use]
    pub fn vault(&self) -> Option<&Vault> {
        self.0.settings.vault.as_ref()
    }

    /// Who knows the person.
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        self.0.settings.identity.as_ref()
    }

    /// Waits until nothing is under way that must not be torn.
    pub async fn settle(&self) {
        let known: Vec<Account> = self.known().values().cloned().collect();
        for account in known {
            account.settle().await;
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(ServerName, Signature), Account>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
