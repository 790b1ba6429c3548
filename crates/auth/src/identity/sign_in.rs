//! The sign-in to the identity provider, in a browser.

use std::time::SystemTime;

use super::UserIdentity;
use crate::authorize::{
    AuthorizationAttempt, AuthorizationCode, AuthorizationRequest, IdTokenDemand as Asking,
};
use crate::callback::{Callback, SignInEnding};
use crate::client::OAuthClient;
use crate::error::SignInError;
use crate::flow::{Flow, FlowDisplay, await_authorization_response};
use crate::grant::{self, TokenGrant, TokenRequest, TokenRequestKeys};
use crate::metadata::AuthServerMetadata;

impl UserIdentity {
    /// Begins a sign-in to the provider, or joins the one in progress: one browser window for all servers.
    ///
    /// # Errors
    /// When the request to the provider fails.
    pub async fn begin_sign_in(&self) -> Result<Flow, SignInError> {
        let mut running = self.0.flow.lock().await;
        if let Some(flow) = running.upgrade().map(Flow::from_inner).filter(|flow| !flow.is_finished()) {
            return Ok(flow);
        }
        let flow = self.start_flow().await?;
        *running = flow.downgrade();
        Ok(flow)
    }

    async fn start_flow(&self) -> Result<Flow, SignInError> {
        let mut callback = Callback::bind(self.0.settings.callback_port)?;
        let provider = self.provider_metadata().await?;
        let client = self.provider_client(&provider).await?;
        let wish = AuthorizationRequest {
            redirect: callback.redirect_url(),
            resource: None,
            scopes: &[],
            identity: Asking::Requested,
            dpop_jkt: None,
            state_prefix: None,
        };
        let (attempt, page) = AuthorizationAttempt::begin_authorization(&provider, &client, &wish)?;
        let (shown, identity) = (FlowDisplay::new(page, None, &provider), self.clone());
        Ok(Flow::start_flow(&self.0.tasks, shown, async move |pasted| {
            let answer = await_authorization_response(&mut callback, &attempt, pasted).await?;
            let signed_in = match attempt.accept_response(&answer) {
                Ok(code) => identity.redeem_code(&provider, &client, &code).await,
                Err(error) => Err(error.into()),
            };
            callback.close_with(SignInEnding::from_result(&signed_in)).await;
            signed_in
        }))
    }

    async fn redeem_code(
        &self,
        provider: &AuthServerMetadata,
        client: &OAuthClient,
        code: &AuthorizationCode,
    ) -> Result<(), SignInError> {
        let AuthorizationCode { code, verifier, redirect, nonce, issuer: _ } = code;
        let request = TokenRequest {
            server: provider,
            client,
            grant: TokenGrant::Code { code, verifier, redirect },
            resource: None,
            scopes: &[],
        };
        let granted =
            grant::request_tokens(&self.0.web, &request, &TokenRequestKeys::default(), SystemTime::now())
                .await?;
        let token = granted.id_token.ok_or(SignInError::NoIdToken)?;
        self.store_token(self.check_token(token, nonce.as_ref())?).await
    }
}
