//! Who we are to a server behind a URL, and what follows when it does not know us.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_auth::headers_helper::{self as helper, HeadersHelper};
use mcparley_auth::vault::{Storage, Vault, VaultSettings};
use mcparley_auth::{Account, Accounts, AccountsSettings, Identity, IdentitySettings};
use mcparley_model::config::{Remote, ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_model::limits::HEADERS_HELPER_TIME;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_model::signature::Signature;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{Authorizer, Nobody};
use mcparley_wire::transport::http::Network;

use super::{NeedsAuth, Surroundings};
use crate::launch::passed_on;
use crate::paths::Paths;

/// Where the key of the vault comes from, for programs without a keychain.
const VAULT_KEY: &str = "MCPARLEY_VAULT_KEY";

/// Which keychains may hold it: `auto`, `keyring` or `file`.
const VAULT_STORAGE: &str = "MCPARLEY_VAULT_STORAGE";

impl Surroundings {
    /// The sign-in to the server of an entry, where there can be one: not where the entry itself says who we are.
    pub(crate) fn account(&self, config: &ServerConfig) -> Option<Account> {
        let (Some(remote), Some(server)) = (remote(config), &self.server) else { return None };
        let is_said = remote.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        (!is_said).then(|| self.accounts.of(server, remote))
    }

    /// Whether this failure means that somebody has to sign in.
    pub(crate) fn wants_sign_in(&self, config: &ServerConfig, failure: &Failure) -> bool {
        let is_ours = matches!(config.transport, Transport::ClaudeAiProxy { .. });
        let can_be_signed_in_to = || self.account(config).is_some_and(|account| !account.is_spoken_for());
        match failure {
            Failure::Unauthorized { .. } => is_ours || can_be_signed_in_to(),
            // Also without a challenge: many servers refuse who comes without a token, or with another's, in this way.
            Failure::Forbidden { .. } => can_be_signed_in_to(),
            _ => false,
        }
    }

    /// The same for a host: servers that wanted a sign-in a short while ago are not asked again (A4).
    #[must_use]
    pub(crate) fn heeding(mut self) -> Self {
        self.needs_auth = self.paths.cache.as_ref().map(|folder| Arc::new(NeedsAuth::new(folder)));
        self
    }

    /// Whether the server is known to want a sign-in, and there has been none.
    pub(super) async fn is_barred(&self, config: &ServerConfig) -> bool {
        let (Some(noted), Some(server)) = (self.needs_auth.clone(), self.server.clone()) else {
            return false;
        };
        let Some(account) = self.account(config).filter(Account::takes_a_person) else { return false };
        let signature = Signature::of(config);
        let looked = move || noted.is_noted(&server, &signature, SystemTime::now());
        // A look that broke off has seen nothing.
        crate::task::aside(looked).await.unwrap_or(false) && !account.has_a_way_in().await
    }

    /// Takes down whether the server wants a sign-in.
    pub(super) async fn note_sign_in(&self, config: &ServerConfig, is_wanted: bool) {
        let (Some(noted), Some(server)) = (self.needs_auth.clone(), self.server.clone()) else { return };
        if self.account(config).is_none() {
            return;
        }
        let signature = Signature::of(config);
        let work = move || match is_wanted {
            true => noted.note(&server, &signature, SystemTime::now()),
            false => noted.clear(&server, SystemTime::now()),
        };
        // What was not written is asked again next time.
        let _broken = crate::task::aside(work).await;
    }

    /// What lets requests to a server in.
    pub(super) fn authorizer(&self, config: &ServerConfig, remote: &Remote) -> Arc<dyn Authorizer> {
        let account = self.account(config);
        match (&remote.headers_helper, account) {
            (Some(command), account) => {
                let helper = HeadersHelper::new(helper::Settings {
                    command: command.clone(),
                    name: self.server.as_ref().map(ToString::to_string).unwrap_or_default(),
                    url: remote.url.clone(),
                    env: passed_on(&self.env),
                    cwd: self.paths.project.clone(),
                    limit: HEADERS_HELPER_TIME,
                });
                Arc::new(helper.beside(account))
            }
            (None, Some(account)) => Arc::new(account),
            (None, None) => Arc::new(Nobody),
        }
    }

    /// The same with somebody who knows the person, for servers whose entries say `xaa` (A6).
    #[must_use]
    pub fn with_identity(mut self, settings: Option<IdentitySettings>) -> Self {
        let vault = self.accounts.vault().cloned();
        let identity = settings.and_then(|settings| Identity::new(settings, &self.network, vault.clone()));
        let (network, folder) = (self.network.clone(), self.paths.project.clone());
        self.accounts = Accounts::new(AccountsSettings { network, vault, identity, folder });
        self
    }

    /// The sign-ins of the user.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// The sign-in to a server, where there can be one: not where the entry itself says who we are.
    #[must_use]
    pub fn account_of(&self, server: &ServerName, config: &ServerConfig) -> Option<Account> {
        self.of_server(server).account(config)
    }
}

/// The sign-ins of a user.
pub(super) fn accounts(env: &Env, paths: &Paths, network: &Network) -> Accounts {
    let vault = paths.secrets.as_ref().map(|folder| vault(folder.clone(), env));
    Accounts::new(AccountsSettings {
        network: network.clone(),
        identity: None,
        vault,
        folder: paths.project.clone(),
    })
}

fn vault(folder: std::path::PathBuf, env: &Env) -> Vault {
    let storage = match (env.get(VAULT_KEY), env.get(VAULT_STORAGE)) {
        (Some(key), _) => Storage::Environment(Secret::new(key.to_owned())),
        (None, Some("keyring")) => Storage::Keyring,
        (None, Some("file")) => Storage::File,
        (None, Some(_) | None) => Storage::Automatic,
    };
    let session_bus = env.get("DBUS_SESSION_BUS_ADDRESS").map(str::to_owned);
    Vault::new(VaultSettings { storage, session_bus, ..VaultSettings::new(folder) })
}

/// What an entry says about a server behind a URL that can be signed in to.
fn remote(config: &ServerConfig) -> Option<&Remote> {
    match &config.transport {
        Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => Some(remote),
        Transport::Stdio(_)
        | Transport::Sdk { .. }
        | Transport::SseIde(_)
        | Transport::WsIde(_)
        | Transport::ClaudeAiProxy { .. } => None,
    }
}
