//! The user's identity at one identity provider, for all servers that accept it (XAA).
//!
//! The user signs in once. The provider's ID token is stored, and for each server it is exchanged for an
//! ID-JAG that only this server's authorization server accepts. The ID token itself is sent only to the
//! provider.

mod sign_in;
mod token_store;

use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use mcparley_model::secret::Secret;
use mcparley_model::settings::IdentityProvider;
use mcparley_wire::transport::http::Network;
use url::Url;

use crate::client::OAuthClient;
use crate::discover::DiscoveryResult;
use crate::error::SignInError;
use crate::exchange::{self, ExchangeError, ExchangeParty, IdJag, IdJagRequest, IdToken};
use crate::flow::Inner as FlowInner;
use crate::grant::TokenRequestKeys;
use crate::metadata::AuthServerMetadata;
use crate::task::TaskGroup;
use crate::vault::Vault;
use crate::web::Web;

pub use token_store::IdentifiedUser;

/// The user's identity at an identity provider. Cheap to clone; all clones share one state.
#[derive(Clone)]
pub struct UserIdentity(Arc<Inner>);

struct Inner {
    settings: IdentitySettings,
    web: Web,
    vault: Option<Vault>,
    token: Mutex<Option<Arc<IdToken>>>,
    flow: tokio::sync::Mutex<Weak<FlowInner>>,
    tasks: TaskGroup,
}

/// The identity provider, and our client there.
#[derive(Clone, Debug)]
pub struct IdentitySettings {
    /// The issuer, byte for byte; its metadata is looked up there.
    pub issuer: String,
    /// The client id.
    pub client_id: String,
    /// The client secret, if it is not in the vault.
    pub client_secret: Option<Secret<String>>,
    /// A fixed port for the browser's redirect.
    pub callback_port: Option<u16>,
    /// An ID token that another program has already obtained.
    pub id_token: Option<Secret<String>>,
}

impl From<&IdentityProvider> for IdentitySettings {
    fn from(provider: &IdentityProvider) -> Self {
        Self {
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.clone(),
            client_secret: None,
            callback_port: provider.callback_port,
            id_token: None,
        }
    }
}

impl UserIdentity {
    /// Creates the identity without a request; `None` when the issuer is no URL.
    #[must_use]
    pub fn new(settings: IdentitySettings, network: &Network, vault: Option<Vault>) -> Option<Self> {
        // The user configures the provider, so it may be at any address.
        let web = Web::new(network, &Url::parse(&settings.issuer).ok()?);
        Some(Self(Arc::new(Inner {
            settings,
            web,
            vault,
            token: Mutex::default(),
            flow: tokio::sync::Mutex::default(),
            tasks: TaskGroup::default(),
        })))
    }

    /// The issuer of the provider.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.0.settings.issuer
    }

    /// Whether there is a valid ID token.
    pub async fn knows_user(&self) -> bool {
        self.valid_token().await.is_some()
    }

    /// Whether this process has a valid ID token in memory; the vault is not read.
    pub(crate) fn remembers_user(&self) -> bool {
        self.cached_token().is_some()
    }

    /// Obtains an ID-JAG for the authorization server of a server, and for no other.
    pub(crate) async fn obtain_id_jag(
        &self,
        found: &DiscoveryResult,
        client: &OAuthClient,
        scopes: &[String],
    ) -> Result<IdJag, SignInError> {
        let token = self.valid_token().await.ok_or(SignInError::IdentityUnknown)?;
        let provider = self.provider_metadata().await?;
        let us = self.provider_client(&provider).await?;
        let party = ExchangeParty { server: &provider, client: &us, keys: &TokenRequestKeys::default() };
        let wanted = IdJagRequest {
            audience: &found.server.issuer,
            client: &client.id,
            resource: &found.audience,
            scopes,
        };
        let stated = exchange::request_id_jag(&self.0.web, &party, &token, &wanted, SystemTime::now()).await;
        if stated.as_ref().is_err_and(ExchangeError::needs_sign_in) {
            // The ID token is invalid for every other server too.
            self.forget_user().await?;
            return Err(SignInError::IdentityUnknown);
        }
        Ok(stated?)
    }

    /// Fetches the metadata of the provider.
    pub(crate) async fn provider_metadata(&self) -> Result<AuthServerMetadata, SignInError> {
        Ok(crate::discover::fetch_issuer_metadata(&self.0.web, &self.0.settings.issuer).await?)
    }
}

impl std::fmt::Debug for UserIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("issuer", &self.0.settings.issuer).finish_non_exhaustive()
    }
}
