//! Who the person is, as one identity provider says it, for all servers that ask there (XAA, A6).
//!
//! The person signs in once. What the provider says then is kept, and for each server it is exchanged for a statement
//! that only this server's authorization server can use. The identity itself is shown to nobody but the provider (H34).

mod kept;
mod sign_in;

use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::Network;
use url::Url;

use crate::client::Client;
use crate::discover::Discovered;
use crate::error::SignInError;
use crate::exchange::{self, ExchangeError, IdJag, IdToken, Party, Wanted};
use crate::flow::Inner as FlowInner;
use crate::grant::Keys;
use crate::metadata::Server;
use crate::task::Tasks;
use crate::vault::Vault;
use crate::web::Web;

pub use kept::Person;

/// Who the person is. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Identity(Arc<Inner>);

struct Inner {
    settings: IdentitySettings,
    web: Web,
    vault: Option<Vault>,
    token: Mutex<Option<Arc<IdToken>>>,
    flow: tokio::sync::Mutex<Weak<FlowInner>>,
    tasks: Tasks,
}

/// Which identity provider, and who we are to it.
#[derive(Clone, Debug)]
pub struct IdentitySettings {
    /// Its name, byte for byte; its description is looked for there.
    pub issuer: String,
    /// The id it knows us by.
    pub client_id: String,
    /// The secret that goes with it, where it is not in the vault.
    pub client_secret: Option<Secret<String>>,
    /// A fixed port for the browser's way back.
    pub callback_port: Option<u16>,
    /// What it has said already, where another program has asked it.
    pub id_token: Option<Secret<String>>,
}

impl Identity {
    /// Does nothing yet; none when the issuer's name is no URL.
    #[must_use]
    pub fn new(settings: IdentitySettings, network: &Network, vault: Option<Vault>) -> Option<Self> {
        // The provider is configured by the person, so it may be wherever the person says.
        let web = Web::new(network, &Url::parse(&settings.issuer).ok()?);
        Some(Self(Arc::new(Inner {
            settings,
            web,
            vault,
            token: Mutex::default(),
            flow: tokio::sync::Mutex::default(),
            tasks: Tasks::default(),
        })))
    }

    /// The provider's name.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.0.settings.issuer
    }

    /// Whether it is known who the person is.
    pub async fn knows_the_person(&self) -> bool {
        self.token().await.is_some()
    }

    /// Whether this process knows it, without asking the vault.
    pub(crate) fn remembers_the_person(&self) -> bool {
        self.remembered().is_some()
    }

    /// A statement about the person for the authorization server of a server, and for no other.
    pub(crate) async fn statement(
        &self,
        found: &Discovered,
        client: &Client,
        scopes: &[String],
    ) -> Result<IdJag, SignInError> {
        let token = self.token().await.ok_or(SignInError::UnknownPerson)?;
        let provider = self.provider().await?;
        let us = self.client(&provider).await?;
        let party = Party { server: &provider, client: &us, keys: &Keys::default() };
        let wanted =
            Wanted { audience: &found.server.issuer, client: &client.id, resource: &found.audience, scopes };
        let stated = exchange::id_jag(&self.0.web, &party, &token, &wanted, SystemTime::now()).await;
        if stated.as_ref().is_err_and(ExchangeError::needs_sign_in) {
            // It is of no use to any other server either.
            self.forget().await?;
            return Err(SignInError::UnknownPerson);
        }
        Ok(stated?)
    }

    /// What the provider says about itself.
    pub(crate) async fn provider(&self) -> Result<Server, SignInError> {
        Ok(crate::discover::describe(&self.0.web, &self.0.settings.issuer).await?)
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("issuer", &self.0.settings.issuer).finish_non_exhaustive()
    }
}
