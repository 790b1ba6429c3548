//! Tokens with the user's consent: in a browser on this machine or another, or on another device.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::json;
use tokio::sync::mpsc;

use super::key::DpopKey;
use super::{Account, AccountOwner};
use crate::authorize::{
    AuthorizationAttempt, AuthorizationCode, AuthorizationRequest, AuthorizeError, IdTokenDemand as Asking,
};
use crate::callback::{Callback, CallbackError, SignInEnding};
use crate::challenge::TokenChallenge;
use crate::client::{ClientIdOrigin, OAuthClient};
use crate::device::{self, DeviceError, DeviceRequest};
use crate::discover::{self, DiscoveryResult};
use crate::error::SignInError;
use crate::flow::{Flow, FlowDisplay, PastedAddress, SignInMethod, await_authorization_response};
use crate::grant::{TokenGrant, TokenRequestKeys, TokenResponse};
use crate::metadata::AuthServerMetadata;
use crate::scopes::Renewal;
use crate::vault::ExpectedEntry;
use crate::web::WebBody;

/// A sign-in that waits for the user's consent.
struct PendingConsent {
    found: DiscoveryResult,
    client: OAuthClient,
    scopes: Vec<String>,
    key: DpopKey,
}

impl Account {
    /// Begins a sign-in, or joins the one in progress.
    ///
    /// The stored sign-in stays until the new one has succeeded, so that a failed attempt loses no working
    /// tokens.
    ///
    /// # Errors
    /// When the user cannot be asked, or the authorization server cannot be found.
    pub async fn begin_sign_in(&self, way: SignInMethod) -> Result<Flow, SignInError> {
        let mut running = self.0.flow.lock().await;
        if let Some(flow) = running.upgrade().map(Flow::from_inner).filter(|flow| !flow.is_finished()) {
            return Ok(flow);
        }
        let flow = self.start_flow(way).await?;
        *running = flow.downgrade();
        Ok(flow)
    }

    /// The sign-in in progress, if there is one.
    pub async fn running_flow(&self) -> Option<Flow> {
        self.0.flow.lock().await.upgrade().map(Flow::from_inner).filter(|flow| !flow.is_finished())
    }

    async fn start_flow(&self, way: SignInMethod) -> Result<Flow, SignInError> {
        if let Some(vault) = &self.0.vault {
            // The user is not asked for consent if its result could not be stored.
            vault.key_location().await?;
        }
        if self.last_challenge().is_none() {
            self.probe_challenge().await;
        }
        self.learn_grant().await;
        if !self.needs_user() {
            return Ok(self.start_silent_flow());
        }
        if self.0.oauth.xaa {
            return self.start_identity_flow().await;
        }
        match way {
            SignInMethod::Browser => self.start_browser_flow().await,
            SignInMethod::Device => self.start_device_flow().await,
        }
    }

    /// Sends a request without a token, to learn the server's challenge. Any other response is ignored.
    async fn probe_challenge(&self) {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let accept = ("accept", Secret::new("application/json, text/event-stream".to_owned()));
        let url = crate::discover::to_http_url(&self.0.url);
        let Ok(page) = self.0.web.post_body(&url, WebBody::Json(&ping), &[accept]).await else { return };
        let asked = page.header("www-authenticate").filter(|_| matches!(page.status, 401 | 403));
        if let Some(asked) = asked.and_then(TokenChallenge::parse) {
            self.note_challenge(asked);
        }
    }

    fn start_silent_flow(&self) -> Flow {
        let account = self.clone();
        Flow::start_flow(&self.0.tasks, FlowDisplay::default(), async move |_pasted| {
            account.sign_in_silently().await
        })
    }

    async fn start_identity_flow(&self) -> Result<Flow, SignInError> {
        let identity = self.0.identity.clone().ok_or(SignInError::NoIdentity)?;
        if identity.knows_user().await {
            return Ok(self.start_silent_flow());
        }
        // One browser window for all servers: a second caller joins the sign-in.
        let asking = identity.begin_sign_in().await?;
        let (shown, account) = (asking.to_display(), self.clone());
        Ok(Flow::start_flow(&self.0.tasks, shown, async move |mut pasted: mpsc::Receiver<PastedAddress>| {
            let done = asking.wait_until_done();
            let pass_on = async {
                while let Some(PastedAddress { text, reply }) = pasted.recv().await {
                    let _gone = reply.send(asking.paste_address(&text).await);
                }
            };
            tokio::select! {
                done = done => done.map_err(Arc::unwrap_or_clone)?,
                () = pass_on => asking.wait_until_done().await.map_err(Arc::unwrap_or_clone)?,
            }
            account.sign_in_silently().await
        }))
    }

    async fn start_browser_flow(&self) -> Result<Flow, SignInError> {
        // Bound before the address is published: a program that took the port in between would receive the
        // code.
        let mut callback = self.bind_callback().await?;
        let redirect = callback.redirect_url().clone();
        let begun = self.prepare_consent(Some(&redirect)).await?;
        let thumbprint = begun.key.thumbprint();
        let wish = AuthorizationRequest {
            redirect: &redirect,
            resource: self.resource_parameter(&begun.found.audience),
            scopes: &begun.scopes,
            identity: Asking::NotRequested,
            dpop_jkt: thumbprint.as_deref(),
            state_prefix: callback.state_prefix(),
        };
        let (attempt, page) =
            AuthorizationAttempt::begin_authorization(&begun.found.server, &begun.client, &wish)?;
        let (shown, account) = (FlowDisplay::new(page, None, &begun.found.server), self.clone());
        Ok(Flow::start_flow(&self.0.tasks, shown, async move |pasted| {
            let answer = await_authorization_response(&mut callback, &attempt, pasted).await?;
            let signed_in = match attempt.accept_response(&answer) {
                Ok(code) => account.redeem_code(begun, &code).await,
                Err(error) => Err(error.into()),
            };
            callback.close_with(SignInEnding::from_result(&signed_in)).await;
            signed_in
        }))
    }

    /// Binds the redirect address: the gateway's, the configured port, the registered one, or a free port.
    async fn bind_callback(&self) -> Result<Callback, SignInError> {
        match &self.0.owner {
            AccountOwner::User => {}
            AccountOwner::Principal { sign_in, .. } => {
                let endpoint = sign_in.callback.as_ref().ok_or(CallbackError::NoAddress)?;
                return Ok(Callback::at_endpoint(endpoint));
            }
        }
        if let Some(port) = self.0.oauth.callback_port {
            return Ok(Callback::bind(Some(port))?);
        }
        if let Some(redirect) = self.registered_redirect().await
            && let Ok(callback) = Callback::bind_to(&redirect)
        {
            return Ok(callback);
        }
        Ok(Callback::bind(None)?)
    }

    async fn prepare_consent(&self, redirect: Option<&url::Url>) -> Result<PendingConsent, SignInError> {
        let (asked, wished) = (self.last_challenge(), self.0.oauth.auth_server_metadata_url.as_ref());
        let found = match redirect {
            Some(_) => {
                discover::discover_for_browser(&self.0.web, &self.0.url, asked.as_ref(), wished).await?
            }
            None => discover::discover_auth_server(&self.0.web, &self.0.url, asked.as_ref(), wished).await?,
        };
        self.check_issuer(&found).await?;
        check_endpoint(&found.server, redirect)?;
        let scopes = self.scopes_to_request(&found, Renewal::Wanted).await;
        let client = self.resolve_client(&found.server, redirect, &scopes).await?;
        let key = DpopKey::generate_if_wanted(&found, asked.as_ref())?;
        Ok(PendingConsent { found, client, scopes, key })
    }

    /// Checks that a configured client is used only with the issuer it belongs to. A server cannot make us
    /// send its secret to another issuer by naming one.
    pub(super) async fn check_issuer(&self, found: &DiscoveryResult) -> Result<(), SignInError> {
        let Some(kept) = self.load_stored().await else { return Ok(()) };
        let (before, now) = (&kept.record.issuer.issuer, &found.server.issuer);
        match kept.record.client.origin {
            ClientIdOrigin::Configured if before != now => {
                let (before, now) = (Untrusted::new(before), Untrusted::new(now));
                Err(SignInError::OtherIssuer { before, now })
            }
            ClientIdOrigin::Configured | ClientIdOrigin::Document | ClientIdOrigin::Registered => Ok(()),
        }
    }

    async fn redeem_code(&self, begun: PendingConsent, code: &AuthorizationCode) -> Result<(), SignInError> {
        let _redeeming = self.0.redeeming.read().await;
        let AuthorizationCode { code, verifier, redirect, .. } = code;
        let grant = TokenGrant::Code { code, verifier, redirect };
        let PendingConsent { found, client, scopes, key } = &begun;
        let granted = self.request_grant(found, client, grant, scopes, key).await;
        if let Err(SignInError::Token(error)) = &granted
            && error.is_unknown_client()
        {
            self.drop_registration(client).await;
        }
        self.store_grant(begun, granted?).await
    }

    async fn start_device_flow(&self) -> Result<Flow, SignInError> {
        let begun = self.prepare_consent(None).await?;
        let signing = self.signing_key(&begun.client)?;
        let started = {
            let keys = TokenRequestKeys { signing: signing.as_ref(), possession: begun.key.possession() };
            device::start_device_sign_in(&self.0.web, &begun.device_request(self, &keys), SystemTime::now())
                .await?
        };
        let page = started.page_with_code.clone().unwrap_or_else(|| started.page.clone());
        let user_code = Some(started.user_code.display_line().into_owned());
        let (shown, account) = (FlowDisplay::new(page, user_code, &begun.found.server), self.clone());
        Ok(Flow::start_flow(&self.0.tasks, shown, async move |_pasted| {
            let granted = {
                let keys = TokenRequestKeys { signing: signing.as_ref(), possession: begun.key.possession() };
                let request = begun.device_request(&account, &keys);
                device::wait_for_device(&account.0.web, &request, &started, SystemTime::now).await?
            };
            account.store_grant(begun, granted).await
        }))
    }

    /// Stores the tokens that were granted.
    async fn store_grant(&self, begun: PendingConsent, granted: TokenResponse) -> Result<(), SignInError> {
        let PendingConsent { found, client, key, scopes: _ } = begun;
        // A renewal of the old tokens has finished before, or reads this record.
        let _alone = self.0.renewing.lock().await;
        let _lock = self.lock_record().await?;
        let record = self.build_record(found, client, granted, &key).await?;
        self.write_record(record, ExpectedEntry::Any).await?;
        self.0.sign_in_count.send_modify(|count| *count += 1);
        Ok(())
    }
}

impl PendingConsent {
    fn device_request<'r>(&'r self, account: &Account, keys: &'r TokenRequestKeys<'r>) -> DeviceRequest<'r> {
        let (server, resource) = (&self.found.server, account.resource_parameter(&self.found.audience));
        DeviceRequest { server, client: &self.client, resource, scopes: &self.scopes, keys }
    }
}

/// Checks that the authorization server offers the chosen flow, in a browser or on another device. Checked
/// before registration, so that no client is registered in vain.
fn check_endpoint(server: &AuthServerMetadata, redirect: Option<&url::Url>) -> Result<(), SignInError> {
    match redirect {
        Some(_) if server.authorization_endpoint.is_none() => Err(AuthorizeError::NoEndpoint.into()),
        None if server.device_endpoint.is_none() => Err(DeviceError::Unsupported.into()),
        Some(_) | None => Ok(()),
    }
}
