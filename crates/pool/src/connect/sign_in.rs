//! Credentials for servers behind a URL, and the cache of servers that need a sign-in.

use std::sync::Arc;
use std::time::SystemTime;

use crate::auth::headers_helper::{self as helper, HeadersHelper};
use crate::auth::vault::{KeyStorage, Vault, VaultSettings};
use crate::auth::{Account, Accounts, AccountsSettings, IdentitySettings, PrincipalSignIn, UserIdentity};
use mcparley_model::config::{RemoteConfig, ServerConfig, TransportConfig};
use mcparley_model::expand::Env;
use mcparley_model::limits::HEADERS_HELPER_TIME;
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_model::signature::Signature;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{Authorizer, NoAuthorizer};
use mcparley_wire::transport::http::Network;

use super::ConnectContext;
use crate::launch::inherited_variables;
use crate::needs_auth::NeedsAuthCache;
use crate::principal::PrincipalCredentials;
use mcparley_config::Paths;

/// The variable with the vault key, for machines without a keychain.
const VAULT_KEY: &str = "MCPARLEY_VAULT_KEY";

/// The variable that selects the storage of the vault key: `auto`, `keyring` or `file`.
const VAULT_STORAGE: &str = "MCPARLEY_VAULT_STORAGE";

impl ConnectContext {
    /// The OAuth account for the server of an entry. `None` if the entry has an `Authorization` header of its
    /// own.
    pub fn account(&self, config: &ServerConfig) -> Option<Account> {
        let (Some(remote), Some(server)) = (remote_config(config), &self.server) else { return None };
        let is_said = remote.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let accounts = match self.principal_of(config) {
            Some(principal) => &principal.accounts,
            None => &self.dialer.accounts,
        };
        (!is_said).then(|| accounts.account_for(server, remote))
    }

    /// The principal whose credentials connections to the server of this entry carry; `None` if they are those
    /// of the user.
    pub(crate) fn principal_of(&self, config: &ServerConfig) -> Option<&PrincipalCredentials> {
        self.dialer.principal.as_ref().filter(|_| config.has_principal_sign_in())
    }

    /// This context for a principal of a gateway: connections carry the principal's own credentials where the
    /// entry says so, and nothing that is cached about them is seen by another principal.
    #[must_use]
    pub fn for_principal(mut self, name: &str, sign_in: PrincipalSignIn) -> Self {
        let principal = PrincipalCredentials::new(name, &self.dialer.accounts, sign_in);
        self.caches.catalog = Arc::new(self.caches.catalog.for_owner(principal.owner));
        self.caches.needs_auth = None;
        self.dialer.principal = Some(principal);
        self
    }

    /// Waits until the work of all accounts that must not be interrupted is finished.
    pub async fn finish_pending_writes(&self) {
        self.dialer.accounts.finish_pending_writes().await;
        if let Some(principal) = &self.dialer.principal {
            principal.accounts.finish_pending_writes().await;
        }
    }

    /// Whether this failure means that the user has to sign in.
    pub fn needs_sign_in(&self, config: &ServerConfig, failure: &Failure) -> bool {
        let is_ours = matches!(config.transport, TransportConfig::ClaudeAiProxy { .. });
        let can_be_signed_in_to =
            || self.account(config).is_some_and(|account| !account.has_helper_credentials());
        match failure {
            Failure::Unauthorized { .. } => is_ours || can_be_signed_in_to(),
            // Also without a challenge: many servers answer 403 to a missing or wrong token.
            Failure::Forbidden { .. } => can_be_signed_in_to(),
            _ => false,
        }
    }

    /// This context with the sign-in cache: servers that needed a sign-in recently are not tried again. For
    /// hosts.
    #[must_use]
    pub fn with_sign_in_cache(mut self) -> Self {
        self.caches.needs_auth =
            self.dialer.paths.cache.as_ref().map(|folder| Arc::new(NeedsAuthCache::new(folder)));
        self
    }

    /// Whether the server is cached as needing a sign-in, and the user has not signed in since.
    pub(super) async fn is_known_to_need_sign_in(&self, config: &ServerConfig) -> bool {
        let (Some(noted), Some(server)) = (self.caches.needs_auth.clone(), self.server.clone()) else {
            return false;
        };
        let Some(account) = self.account(config).filter(Account::needs_user) else { return false };
        let signature = Signature::from_config(config);
        let looked = move || noted.is_recorded(&server, &signature, SystemTime::now());
        // A panicked lookup counts as not cached.
        mcparley_platform::thread::run_blocking(looked).await.unwrap_or(false)
            && !account.can_sign_in_silently().await
    }

    /// Caches whether the server needs a sign-in.
    pub(super) async fn cache_sign_in_need(&self, config: &ServerConfig, is_wanted: bool) {
        let (Some(noted), Some(server)) = (self.caches.needs_auth.clone(), self.server.clone()) else {
            return;
        };
        if self.account(config).is_none() {
            return;
        }
        let signature = Signature::from_config(config);
        let work = move || {
            if is_wanted {
                noted.record_need(&server, &signature, SystemTime::now())
            } else {
                noted.clear_need(&server, SystemTime::now())
            }
        };
        // A lost write does not matter: the server is asked again next time.
        let _broken = mcparley_platform::thread::run_blocking(work).await;
    }

    /// The authorizer for requests to a server: headers helper, OAuth account, both, or none.
    pub(super) fn authorizer(&self, config: &ServerConfig, remote: &RemoteConfig) -> Arc<dyn Authorizer> {
        let account = self.account(config);
        match (&remote.headers_helper, account) {
            (Some(command), account) => {
                let helper = HeadersHelper::new(helper::HelperSettings {
                    command: command.clone(),
                    name: self.server.as_ref().map(ToString::to_string).unwrap_or_default(),
                    url: remote.url.clone(),
                    env: inherited_variables(&self.dialer.env),
                    cwd: self.dialer.paths.project.clone(),
                    limit: HEADERS_HELPER_TIME,
                });
                Arc::new(helper.with_account(account))
            }
            (None, Some(account)) => Arc::new(account),
            (None, None) => Arc::new(NoAuthorizer),
        }
    }

    /// This context with an enterprise identity provider, for servers with `xaa` in their entry.
    #[must_use]
    pub fn with_identity(mut self, settings: Option<IdentitySettings>) -> Self {
        let vault = self.dialer.accounts.vault().cloned();
        let identity =
            settings.and_then(|settings| UserIdentity::new(settings, &self.dialer.network, vault.clone()));
        let (network, folder) = (self.dialer.network.clone(), self.dialer.paths.project.clone());
        self.dialer.accounts = Accounts::new(AccountsSettings { network, vault, identity, folder });
        self
    }

    /// The OAuth accounts of the user.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.dialer.accounts
    }

    /// The OAuth account for a server. `None` if its entry has an `Authorization` header of its own.
    #[must_use]
    pub fn account_for(&self, server: &ServerName, config: &ServerConfig) -> Option<Account> {
        self.for_server(server).account(config)
    }
}

/// The OAuth accounts of a user, stored in the vault.
pub(super) fn open_accounts(env: &Env, paths: &Paths, network: &Network) -> Accounts {
    let vault = paths.secrets.as_ref().map(|folder| open_vault(folder.clone(), env));
    Accounts::new(AccountsSettings {
        network: network.clone(),
        identity: None,
        vault,
        folder: paths.project.clone(),
    })
}

/// The vault in this folder, with the key storage that the environment selects.
fn open_vault(folder: std::path::PathBuf, env: &Env) -> Vault {
    let storage = match (env.get(VAULT_KEY), env.get(VAULT_STORAGE)) {
        (Some(key), _) => KeyStorage::Environment(Secret::new(key.to_owned())),
        (None, Some("keyring")) => KeyStorage::Keyring,
        (None, Some("file")) => KeyStorage::File,
        (None, Some(_) | None) => KeyStorage::Automatic,
    };
    let session_bus = env.get("DBUS_SESSION_BUS_ADDRESS").map(str::to_owned);
    Vault::new(VaultSettings { storage, session_bus, ..VaultSettings::new(folder) })
}

/// The remote part of an entry, if its transport supports a sign-in.
fn remote_config(config: &ServerConfig) -> Option<&RemoteConfig> {
    match &config.transport {
        TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
            Some(remote)
        }
        TransportConfig::Stdio(_)
        | TransportConfig::Sdk { .. }
        | TransportConfig::SseIde(_)
        | TransportConfig::WsIde(_)
        | TransportConfig::ClaudeAiProxy { .. } => None,
    }
}
