//! The one sign-in at the identity provider, in a browser.

use std::time::SystemTime;

use super::Identity;
use crate::account::answer;
use crate::authorize::{Attempt, Code, Identity as Asking, Wish};
use crate::callback::{Callback, Ending};
use crate::client::Client;
use crate::error::SignInError;
use crate::flow::{Flow, Shown};
use crate::grant::{self, Grant, Keys, TokenRequest};
use crate::metadata::Server;

impl Identity {
    /// Begins to sign in at the provider, or joins the sign-in that is under way: one window for all servers.
    ///
    /// # Errors
    /// When the provider cannot be asked.
    pub async fn begin(&self) -> Result<Flow, SignInError> {
        let mut running = self.0.flow.lock().await;
        if let Some(flow) = running.upgrade().map(Flow::from_inner).filter(|flow| !flow.is_over()) {
            return Ok(flow);
        }
        let flow = self.start().await?;
        *running = flow.downgrade();
        Ok(flow)
    }

    async fn start(&self) -> Result<Flow, SignInError> {
        let mut callback = Callback::bind(self.0.settings.callback_port)?;
        let provider = self.provider().await?;
        let client = self.client(&provider).await?;
        let wish = Wish {
            redirect: callback.redirect(),
            resource: None,
            scopes: &[],
            identity: Asking::Asked,
            dpop_jkt: None,
        };
        let (attempt, page) = Attempt::begin(&provider, &client, &wish)?;
        let (shown, identity) = (Shown::new(page, None, &provider), self.clone());
        Ok(Flow::start(&self.0.tasks, shown, async move |pasted| {
            let answer = answer(&mut callback, &attempt, pasted).await?;
            let signed_in = match attempt.accept(&answer) {
                Ok(code) => identity.redeem(&provider, &client, &code).await,
                Err(error) => Err(error.into()),
            };
            callback.close(Ending::of(&signed_in)).await;
            signed_in
        }))
    }

    async fn redeem(&self, provider: &Server, client: &Client, code: &Code) -> Result<(), SignInError> {
        let Code { code, verifier, redirect, nonce, issuer: _ } = code;
        let request = TokenRequest {
            server: provider,
            client,
            grant: Grant::Code { code, verifier, redirect },
            resource: None,
            scopes: &[],
        };
        let granted = grant::ask(&self.0.web, &request, &Keys::default(), SystemTime::now()).await?;
        let token = granted.id_token.ok_or(SignInError::NoIdToken)?;
        self.keep(self.believed(token, nonce.as_ref())?).await
    }
}
