//! Tokens without a person: with the client's own secret or key, with what others have signed for this program, or
//! through an identity provider that knows the person already (A6, A8).

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::Grant as Granting;
use mcparley_model::limits::RENEWAL_TIME;
use mcparley_model::secret::Secret;

use super::Account;
use super::key::Key;
use super::memory::StoredSignIn;
use super::renewal::{RenewError, late, unreadable};
use super::single_flight::Wish;
use crate::client::Client;
use crate::discover::{self, Discovered};
use crate::error::SignInError;
use crate::exchange;
use crate::grant::{self, Grant, Granted, Keys, TokenRequest};
use crate::record::Record;
use crate::scopes::{self, Renewal};
use crate::vault::Expected;

impl Account {
    /// Whether tokens can be had without a person, as far as the entry goes.
    pub(super) fn needs_nobody(&self) -> bool {
        !self.takes_a_person() || (self.0.oauth.xaa && self.0.identity.is_some())
    }

    /// Whether the identity provider knows the person, where it is asked. Nobody else is asked anything before.
    pub(super) async fn is_person_known(&self) -> bool {
        match &self.0.identity {
            Some(identity) if self.0.oauth.xaa => identity.knows_the_person().await,
            Some(_) | None => false,
        }
    }

    /// Tokens other than `sent`, without a person; once for all who ask.
    pub(super) async fn get_alone(
        &self,
        sent: Option<&Secret<String>>,
    ) -> Result<Arc<StoredSignIn>, RenewError> {
        if !self.needs_nobody() {
            return Err(RenewError::Over);
        }
        let (account, sent) = (self.clone(), sent.cloned());
        let wish = Wish::Anew(sent.clone());
        let work = async move {
            let _alone = account.0.renewing.lock().await;
            let _lock = account.lock().await?;
            let kept =
                account.read().await.map_err(unreadable)?.filter(|kept| kept.is_of_use(SystemTime::now()));
            match kept {
                Some(kept) if sent.is_none_or(|sent| kept.is_other_than(&sent)) => Ok(kept),
                Some(_) | None => account.get_anew().await,
            }
        };
        self.0.single_flight.share(&self.0.tasks, wish, work).await
    }

    /// Tokens other than those there are, because somebody wants to sign in again.
    pub(super) async fn sign_in_alone(&self) -> Result<(), SignInError> {
        let known = self
            .read()
            .await?
            .and_then(|kept| kept.record.tokens.as_ref().map(|tokens| tokens.access.clone()));
        self.get_alone(known.as_ref()).await?;
        self.0.signed_in.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Tokens anew. The entry is locked.
    pub(super) async fn get_anew(&self) -> Result<Arc<StoredSignIn>, RenewError> {
        if self.takes_a_person() && !self.is_person_known().await {
            return Err(RenewError::Over);
        }
        let asked = tokio::time::timeout(RENEWAL_TIME, self.ask_alone()).await;
        let record = asked.unwrap_or_else(|_| Err(late()))?;
        Ok(self.write(record, Expected::Anything).await.map_err(SignInError::Vault)?)
    }

    async fn ask_alone(&self) -> Result<Record, SignInError> {
        let (asked, oauth) = (self.asked(), &self.0.oauth);
        let wished = oauth.auth_server_metadata_url.as_ref();
        let found = discover::find(&self.0.web, &self.0.url, asked.as_ref(), wished).await?;
        self.check_issuer(&found).await?;
        let scopes = self.scopes(&found, Renewal::Unwanted).await;
        let client = self.client_for(&found.server, None, &scopes).await?;
        let key = Key::wanted(&found, asked.as_ref())?;
        let granted = match self.grant() {
            Granting::ClientCredentials => {
                self.ask(&found, &client, Grant::ClientCredentials, &scopes, &key).await?
            }
            Granting::JwtBearer => {
                let assertion = self.assertion()?;
                let grant = Grant::JwtBearer { assertion: &assertion };
                self.ask(&found, &client, grant, &scopes, &key).await?
            }
            Granting::Person => self.ask_identity(&found, &client, &scopes, &key).await?,
        };
        self.record(found, client, granted, &key).await
    }

    /// Through the identity provider: who the person is, then a statement for this server, then its token.
    async fn ask_identity(
        &self,
        found: &Discovered,
        client: &Client,
        scopes: &[String],
        key: &Key,
    ) -> Result<Granted, SignInError> {
        let identity = self.0.identity.as_ref().ok_or(SignInError::NoIdentity)?;
        let statement = identity.statement(found, client, scopes).await?;
        let signing = self.signing_key(client)?;
        let keys = Keys { signing: signing.as_ref(), possession: key.possession() };
        let party = exchange::Party { server: &found.server, client, keys: &keys };
        Ok(exchange::redeem(&self.0.web, &party, &statement, SystemTime::now()).await?)
    }

    /// Makes a token request.
    pub(super) async fn ask(
        &self,
        found: &Discovered,
        client: &Client,
        grant: Grant<'_>,
        scopes: &[String],
        key: &Key,
    ) -> Result<Granted, SignInError> {
        let signing = self.signing_key(client)?;
        let keys = Keys { signing: signing.as_ref(), possession: key.possession() };
        let resource = self.resource_parameter(&found.audience);
        let request = TokenRequest { server: &found.server, client, grant, resource, scopes };
        Ok(grant::ask(&self.0.web, &request, &keys, SystemTime::now()).await?)
    }

    /// The `resource` parameter of a request for a token (RFC 8707), unless the entry switches it off.
    pub(super) fn resource_parameter<'a>(&self, audience: &'a str) -> Option<&'a str> {
        (!self.0.oauth.omit_resource).then_some(audience)
    }

    /// The scopes to ask for: what the server wants now, and what it has wanted before (K4).
    pub(super) async fn scopes(&self, found: &Discovered, renewal: Renewal) -> Vec<String> {
        let asked = self.asked();
        let (resource, server) = (found.resource.as_ref(), &found.server);
        let now = scopes::select(&self.0.oauth.scopes, asked.as_ref(), resource, server, renewal);
        let Some(kept) = self.kept().await else { return now };
        if kept.record.issuer.issuer != server.issuer {
            return now;
        }
        let held = kept.record.tokens.as_ref().map_or(&[][..], |tokens| &tokens.scopes);
        scopes::union(&scopes::union(held, &now), &kept.record.wanted)
    }

    /// What is remembered of a sign-in that has succeeded.
    pub(super) async fn record(
        &self,
        found: Discovered,
        client: Client,
        granted: Granted,
        key: &Key,
    ) -> Result<Record, SignInError> {
        // Another process may have been asked for more since.
        let wanted = match self.read().await? {
            Some(kept) if kept.record.issuer.issuer == found.server.issuer => kept.record.wanted.clone(),
            Some(_) | None => Vec::new(),
        };
        Ok(Record {
            server: self.0.server.to_string(),
            resource: found.audience,
            issuer: found.server,
            client: Client { proof: granted.proof, ..client },
            tokens: Some(granted.tokens),
            wanted,
            key: key.written()?,
        })
    }
}
