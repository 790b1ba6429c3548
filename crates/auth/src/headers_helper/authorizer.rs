//! A headers helper combined with a sign-in: the one that provides `Authorization` handles refusals.
//!
//! Many commands only add headers for a company's gateway, and the server behind it wants a sign-in as well.

use std::sync::Arc;

use mcparley_model::text::Untrusted;
use mcparley_wire::authorizer::{Authorizer, Challenge, Credentials, RequestTarget, RetryDecision};
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::{Failure, Obstacle};

use super::HeadersHelper;
use crate::account::Account;
use crate::error::join_sources;

/// A headers helper, and the sign-in that is used while the helper prints no `Authorization`.
#[derive(Debug)]
pub struct HelperAuthorizer {
    helper: HeadersHelper,
    account: Option<Account>,
}

impl HeadersHelper {
    /// Adds a sign-in, used as long as the command prints no `Authorization` itself.
    #[must_use]
    pub fn with_account(self, account: Option<Account>) -> HelperAuthorizer {
        HelperAuthorizer { helper: self, account }
    }
}

impl HelperAuthorizer {
    async fn load_credentials(&self, request: RequestTarget<'_>) -> Result<Credentials, Failure> {
        let made = self.helper.authorize_request(request).await?;
        let says_who = has_authorization_header(&made);
        if let Some(account) = &self.account {
            account.set_helper_credentials(says_who);
        }
        match &self.account {
            Some(account) if !says_who => {
                let mut credentials = account.authorize_request(request).await?;
                credentials.headers.extend(made.headers);
                Ok(credentials)
            }
            Some(_) | None => Ok(made),
        }
    }

    async fn handle_challenge(&self, sent: &Credentials, challenge: &Challenge) -> RetryDecision {
        let next = match &self.account {
            Some(account) if !self.helper.has_authorization() => {
                account.handle_refusal(sent, challenge).await
            }
            Some(_) | None => self.helper.handle_refusal(sent, challenge).await,
        };
        match (next, self.helper.last_error()) {
            // The failure of the command is the likely reason.
            (RetryDecision::GiveUp, Some(trouble)) => RetryDecision::Fail(Failure::Refused {
                obstacle: Obstacle::SignIn,
                reason: Arc::from(format!(
                    "the server requires a sign-in, and its `headersHelper` failed: {}",
                    join_sources(&trouble)
                )),
                hint: None,
            }),
            (next, _) => next,
        }
    }
}

fn has_authorization_header(credentials: &Credentials) -> bool {
    credentials.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

impl Authorizer for HelperAuthorizer {
    fn authorize_request<'a>(
        &'a self,
        request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        Box::pin(self.load_credentials(request))
    }

    fn handle_refusal<'a>(
        &'a self,
        sent: &'a Credentials,
        challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        Box::pin(self.handle_challenge(sent, challenge))
    }

    fn store_nonce(&self, nonce: &Untrusted) {
        if let Some(account) = &self.account {
            account.store_nonce(nonce);
        }
    }
}
