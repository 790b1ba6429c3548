//! Our OAuth client at the authorization server of a server: registered earlier, configured, or registered
//! now.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::ConfiguredSecret;
use mcparley_model::limits::KEY_FILE_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::file::{self, SymlinkPolicy};
use url::Url;

use super::Account;
use crate::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use crate::error::SignInError;
use crate::jwt::SigningKey;
use crate::metadata::{AuthServerMetadata, MetadataSource};
use crate::register::{self, ClientCandidates, ClientChoice, ConfiguredClient, RegistrationRequest};
use crate::tokens::Tokens;

impl Account {
    /// The client to use at `server`; `redirect` is the address browsers are sent back to, if one takes part.
    pub(super) async fn resolve_client(
        &self,
        server: &AuthServerMetadata,
        redirect: Option<&Url>,
        scopes: &[String],
    ) -> Result<OAuthClient, SignInError> {
        if let Some(client) = self.registered_client(server, redirect, scopes).await {
            return Ok(client);
        }
        let oauth = &self.0.oauth;
        let secret = self.client_secret().await?;
        let configured =
            oauth.client_id.as_deref().map(|id| ConfiguredClient { id, secret: secret.as_ref() });
        let (document, key) = (oauth.client_metadata_url.as_ref(), oauth.private_key.is_some());
        match register::choose_client(server, &ClientCandidates { configured, document, key, redirect })? {
            ClientChoice::Known(client) => Ok(client),
            ClientChoice::Unregistered => {
                let (name, device) = (self.0.server.as_str(), server.device_endpoint.is_some());
                let registration = RegistrationRequest { name, redirect, scopes, device };
                // The authorization server reports an expired secret, and a new sign-in then registers again.
                match register::register_client(&self.0.web, server, &registration).await {
                    Ok(registered) => Ok(registered.client),
                    Err(error) if server.source == MetadataSource::Assumed && error.is_missing_endpoint() => {
                        Err(SignInError::NoSignInOffered)
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    /// The client registered by an earlier sign-in, if its issuer and redirect address match and it was
    /// registered for all of these scopes: servers refuse a client that asks for more than it was registered
    /// for.
    async fn registered_client(
        &self,
        server: &AuthServerMetadata,
        redirect: Option<&Url>,
        scopes: &[String],
    ) -> Option<OAuthClient> {
        let kept = self.load_stored().await?;
        let record = &kept.record;
        // A granted scope was registered; records of earlier versions do not list the others.
        let granted = record.tokens.as_ref().map_or(&[][..], |tokens| &tokens.scopes);
        let is_registered = |scope: &String| record.client.scopes.contains(scope) || granted.contains(scope);
        let fits = record.issuer.issuer == server.issuer
            && record.client.origin == ClientIdOrigin::Registered
            && record.client.redirect.as_ref() == redirect
            && scopes.iter().all(is_registered)
            && !self.is_client_rejected(&record.client);
        fits.then(|| record.client.clone())
    }

    /// The redirect address of an earlier registration.
    pub(super) async fn registered_redirect(&self) -> Option<Url> {
        let kept = self.load_stored().await?;
        match kept.record.client.origin {
            ClientIdOrigin::Registered => kept.record.client.redirect.clone(),
            ClientIdOrigin::Configured | ClientIdOrigin::Document => None,
        }
    }

    /// Drops a registered client that the authorization server no longer knows, so that the next sign-in
    /// registers again. Tokens that the server still accepts stay until they expire.
    pub(super) async fn drop_registration(&self, client: &OAuthClient) {
        if client.origin != ClientIdOrigin::Registered {
            return;
        }
        self.mark_client_rejected(client);
        let _alone = self.0.renewing.lock().await;
        let (Ok(_lock), Ok(Some(kept))) = (self.lock_record().await, self.read_sign_in().await) else {
            return;
        };
        let is_open = |tokens: &Tokens| !tokens.is_expired(SystemTime::now());
        if kept.record.client.id == client.id && !kept.record.tokens.as_ref().is_some_and(is_open) {
            // A record that stays is detected again at the next use.
            let _kept_by_another = self.remove_record(&kept).await;
        }
    }

    /// The secret of a configured client: from its entry, or from the vault.
    pub(super) async fn client_secret(&self) -> Result<Option<Secret<String>>, SignInError> {
        if let Some(secret) = &self.0.oauth.client_secret {
            return Ok(Some(secret.clone()));
        }
        let (Some(_), Some(vault)) = (&self.0.oauth.client_id, &self.0.secrets) else { return Ok(None) };
        let entry = vault.read_entry(&self.0.slot.secret_entry()).await?;
        Ok(entry.and_then(|entry| String::from_utf8(entry.value.expose().clone()).ok()).map(Secret::new))
    }

    /// The client with the secret that is configured now: it may have been replaced since the sign-in.
    pub(super) async fn client_with_current_secret(
        &self,
        client: &OAuthClient,
    ) -> Result<OAuthClient, SignInError> {
        let secret = match client.origin {
            ClientIdOrigin::Configured => self.client_secret().await?,
            ClientIdOrigin::Document | ClientIdOrigin::Registered => None,
        };
        Ok(OAuthClient { secret: secret.or_else(|| client.secret.clone()), ..client.clone() })
    }

    /// Stores the secret of a configured client in the vault, so that it is in no configuration file.
    ///
    /// # Errors
    /// When there is no vault, or it cannot be written.
    pub async fn store_client_secret(&self, secret: Secret<String>) -> Result<(), SignInError> {
        let vault = self.0.secrets.as_ref().ok_or(SignInError::NoVault)?;
        let bytes = Secret::new(secret.expose().clone().into_bytes());
        vault.write_entry(&self.0.slot.secret_entry(), bytes, crate::vault::ExpectedEntry::Any).await?;
        Ok(())
    }

    /// Removes the secret of a configured client; returns whether there was one.
    ///
    /// # Errors
    /// When the vault cannot be written.
    pub async fn remove_client_secret(&self) -> Result<bool, SignInError> {
        let (Some(vault), entry) = (&self.0.secrets, self.0.slot.secret_entry()) else { return Ok(false) };
        // Without a secret the vault is not written, and no file is created.
        let is_there = vault.read_entry(&entry).await?.is_some();
        Ok(is_there && vault.remove_entry(&entry, crate::vault::ExpectedEntry::Any).await?)
    }

    /// The key of a client that authenticates with a signed assertion.
    pub(super) fn signing_key(&self, client: &OAuthClient) -> Result<Option<SigningKey>, SignInError> {
        if client.proof != ClientAuthMethod::Signature {
            return Ok(None);
        }
        let held = self.0.oauth.private_key.as_ref().ok_or(SignInError::NoKey)?;
        let pem = self.load_secret(held, "private key")?;
        SigningKey::from_pem(&pem).map(Some).map_err(SignInError::Key)
    }

    /// Loads a secret from the entry, or from the private file the entry names.
    pub(super) fn load_secret(
        &self,
        held: &ConfiguredSecret,
        what: &'static str,
    ) -> Result<Secret<String>, SignInError> {
        let path = match held {
            ConfiguredSecret::Inline(secret) => return Ok(secret.clone()),
            ConfiguredSecret::File(path) => self.0.folder.join(path),
        };
        match file::read_private(&path, KEY_FILE_BYTES, SymlinkPolicy::Follow) {
            Ok(Some(private)) => Ok(Secret::new(private.text.trim().to_owned())),
            Ok(None) => Err(SignInError::NoFile { what, path }),
            Err(error) => Err(SignInError::File { what, why: Arc::new(error) }),
        }
    }

    /// Loads the assertion that another party signed for this client. The platform that writes the file
    /// decides its permissions, so they are not checked.
    pub(super) fn load_assertion(&self) -> Result<Secret<String>, SignInError> {
        let what = "assertion";
        let path = match &self.0.oauth.assertion {
            None => return Err(SignInError::NoAssertion),
            Some(ConfiguredSecret::Inline(secret)) => return Ok(secret.clone()),
            Some(ConfiguredSecret::File(path)) => self.0.folder.join(path),
        };
        match file::read_text(&path, KEY_FILE_BYTES) {
            Ok(Some(text)) => Ok(Secret::new(text.text.trim().to_owned())),
            Ok(None) => Err(SignInError::NoFile { what, path }),
            Err(error) => Err(SignInError::File { what, why: Arc::new(error) }),
        }
    }
}
