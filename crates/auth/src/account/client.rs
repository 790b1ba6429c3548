//! Who we are to the authorization server of a server: known from before, configured, or registered now.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::Held;
use mcparley_model::limits::KEY_FILE_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::file::{self, Links};
use url::Url;

use super::Account;
use crate::client::{Client, Origin, Proof};
use crate::error::SignInError;
use crate::jwt::SigningKey;
use crate::metadata::{Found, Server};
use crate::register::{self, Configured, Identity, Known, Registration};
use crate::tokens::Tokens;

impl Account {
    /// Who we are to `server`; `redirect` is where browsers are sent back to, if one takes part.
    pub(super) async fn client_for(
        &self,
        server: &Server,
        redirect: Option<&Url>,
        scopes: &[String],
    ) -> Result<Client, SignInError> {
        if let Some(client) = self.client_from_before(server, redirect, scopes).await {
            return Ok(client);
        }
        let oauth = &self.0.oauth;
        let secret = self.client_secret().await?;
        let configured = oauth.client_id.as_deref().map(|id| Configured { id, secret: secret.as_ref() });
        let (document, key) = (oauth.client_metadata_url.as_ref(), oauth.private_key.is_some());
        match register::identify(server, &Known { configured, document, key, redirect })? {
            Identity::Known(client) => Ok(client),
            Identity::Unregistered => {
                let (name, device) = (self.0.server.as_str(), server.device_endpoint.is_some());
                let registration = Registration { name, redirect, scopes, device };
                // When its secret ends, the authorization server says so, and a new sign-in registers anew.
                match register::register(&self.0.web, server, &registration).await {
                    Ok(registered) => Ok(registered.client),
                    Err(error) if server.found == Found::Assumed && error.is_no_endpoint() => {
                        Err(SignInError::NoOffer)
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// The registration of an earlier sign-in, if it is with the same issuer, leads back to the same place and is for
    /// all of these scopes: servers refuse a client that asks for more than it was registered for.
    async fn client_from_before(
        &self,
        server: &Server,
        redirect: Option<&Url>,
        scopes: &[String],
    ) -> Option<Client> {
        let kept = self.kept().await?;
        let record = &kept.record;
        // What was granted once was registered; records of earlier versions do not say what else was.
        let granted = record.tokens.as_ref().map_or(&[][..], |tokens| &tokens.scopes);
        let is_registered = |scope: &String| record.client.scopes.contains(scope) || granted.contains(scope);
        let fits = record.issuer.issuer == server.issuer
            && record.client.origin == Origin::Registered
            && record.client.redirect.as_ref() == redirect
            && scopes.iter().all(is_registered)
            && !self.is_disowned(&record.client);
        fits.then(|| record.client.clone())
    }

    /// Where an earlier registration leads back to.
    pub(super) async fn redirect_from_before(&self) -> Option<Url> {
        let kept = self.kept().await?;
        match kept.record.client.origin {
            Origin::Registered => kept.record.client.redirect.clone(),
            Origin::Configured | Origin::Document => None,
        }
    }

    /// The authorization server does not know a client any more that had registered: the next sign-in registers anew.
    /// Tokens that still open the server stay until they end.
    pub(super) async fn disown(&self, client: &Client) {
        if client.origin != Origin::Registered {
            return;
        }
        self.note_disowned(client);
        let _alone = self.0.renewing.lock().await;
        let (Ok(_lock), Ok(Some(kept))) = (self.lock().await, self.read().await) else { return };
        let is_open = |tokens: &Tokens| !tokens.is_over(SystemTime::now());
        if kept.record.client.id == client.id && !kept.record.tokens.as_ref().is_some_and(is_open) {
            // What stays there is noticed again.
            let _kept_by_another = self.forget(&kept).await;
        }
    }

    /// The secret of a configured client: from its entry, or from the vault.
    pub(super) async fn client_secret(&self) -> Result<Option<Secret<String>>, SignInError> {
        if let Some(secret) = &self.0.oauth.client_secret {
            return Ok(Some(secret.clone()));
        }
        let (Some(_), Some(vault)) = (&self.0.oauth.client_id, &self.0.vault) else { return Ok(None) };
        let entry = vault.read(&self.0.slot.secret()).await?;
        Ok(entry.and_then(|entry| String::from_utf8(entry.value.expose().clone()).ok()).map(Secret::new))
    }

    /// Who we are with what is configured now: a secret may have been replaced since the sign-in.
    pub(super) async fn client_now(&self, client: &Client) -> Result<Client, SignInError> {
        let secret = match client.origin {
            Origin::Configured => self.client_secret().await?,
            Origin::Document | Origin::Registered => None,
        };
        Ok(Client { secret: secret.or_else(|| client.secret.clone()), ..client.clone() })
    }

    /// Keeps the secret of a configured client in the vault, so that it stands in no file.
    ///
    /// # Errors
    /// When there is no vault, or it cannot be written.
    pub async fn keep_client_secret(&self, secret: Secret<String>) -> Result<(), SignInError> {
        let vault = self.0.vault.as_ref().ok_or(SignInError::NoVault)?;
        let bytes = Secret::new(secret.expose().clone().into_bytes());
        vault.write(&self.0.slot.secret(), bytes, crate::vault::Expected::Anything).await?;
        Ok(())
    }

    /// Forgets the secret of a configured client; whether there was one.
    ///
    /// # Errors
    /// When the vault cannot be written.
    pub async fn forget_client_secret(&self) -> Result<bool, SignInError> {
        let (Some(vault), entry) = (&self.0.vault, self.0.slot.secret()) else { return Ok(false) };
        // Where there is none, no file is made to say so.
        let is_there = vault.read(&entry).await?.is_some();
        Ok(is_there && vault.remove(&entry, crate::vault::Expected::Anything).await?)
    }

    /// The key that signs for a client that proves itself by it.
    pub(super) fn signing_key(&self, client: &Client) -> Result<Option<SigningKey>, SignInError> {
        if client.proof != Proof::Signature {
            return Ok(None);
        }
        let held = self.0.oauth.private_key.as_ref().ok_or(SignInError::NoKey)?;
        let pem = self.held(held, "private key")?;
        SigningKey::from_pem(&pem).map(Some).map_err(SignInError::Key)
    }

    /// A secret that stands in the entry or in a file.
    pub(super) fn held(&self, held: &Held, what: &'static str) -> Result<Secret<String>, SignInError> {
        let path = match held {
            Held::Here(secret) => return Ok(secret.clone()),
            Held::File(path) => self.0.folder.join(path),
        };
        match file::read_private(&path, KEY_FILE_BYTES, Links::Follow) {
            Ok(Some(private)) => Ok(Secret::new(private.text.trim().to_owned())),
            Ok(None) => Err(SignInError::NoFile { what, path }),
            Err(error) => Err(SignInError::File { what, why: Arc::new(error) }),
        }
    }

    /// What others have signed for us. The platform that writes it decides who may read it.
    pub(super) fn assertion(&self) -> Result<Secret<String>, SignInError> {
        let what = "assertion";
        let path = match &self.0.oauth.assertion {
            None => return Err(SignInError::NoAssertion),
            Some(Held::Here(secret)) => return Ok(secret.clone()),
            Some(Held::File(path)) => self.0.folder.join(path),
        };
        match file::read(&path, KEY_FILE_BYTES) {
            Ok(Some(text)) => Ok(Secret::new(text.text.trim().to_owned())),
            Ok(None) => Err(SignInError::NoFile { what, path }),
            Err(error) => Err(SignInError::File { what, why: Arc::new(error) }),
        }
    }
}
