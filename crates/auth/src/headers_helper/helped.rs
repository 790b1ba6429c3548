//! A command that makes headers beside a sign-in: whoever gives `Authorization` answers for it.
//!
//! Many commands only add what a company's gateway wants, and the server behind it wants a sign-in all the same.

use std::sync::Arc;

use mcparley_model::text::Untrusted;
use mcparley_wire::authorizer::{Asking, Authorizer, Challenge, Credentials, Next};
use mcparley_wire::peer::Boxed;
use mcparley_wire::{Failure, Obstacle};

use super::HeadersHelper;
use crate::account::Account;
use crate::error::chain;

/// A command that makes headers, and the sign-in that it leaves to be done.
#[derive(Debug)]
pub struct Helped {
    helper: HeadersHelper,
    account: Option<Account>,
}

impl HeadersHelper {
    /// With this sign-in, for as long as the command gives no `Authorization` itself.
    #[must_use]
    pub fn beside(self, account: Option<Account>) -> Helped {
        Helped { helper: self, account }
    }
}

impl Helped {
    async fn credentials(&self, request: Asking<'_>) -> Result<Credentials, Failure> {
        let made = self.helper.headers(request).await?;
        let says_who = says_who(&made);
        if let Some(account) = &self.account {
            account.speak_for(says_who);
        }
        match &self.account {
            Some(account) if !says_who => {
                let mut credentials = account.headers(request).await?;
                credentials.headers.extend(made.headers);
                Ok(credentials)
            }
            Some(_) | None => Ok(made),
        }
    }

    async fn next(&self, sent: &Credentials, challenge: &Challenge) -> Next {
        let next = match &self.account {
            Some(account) if !self.helper.says_who() => account.refused(sent, challenge).await,
            Some(_) | None => self.helper.refused(sent, challenge).await,
        };
        match (next, self.helper.trouble()) {
            // That it brought nothing is likely why.
            (Next::GiveUp, Some(trouble)) => Next::Fail(Failure::Refused {
                obstacle: Obstacle::SignIn,
                reason: Arc::from(format!(
                    "the server wants a sign-in, and its `headersHelper` failed: {}",
                    chain(&trouble)
                )),
                hint: None,
            }),
            (next, _) => next,
        }
    }
}

fn says_who(credentials: &Credentials) -> bool {
    credentials.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

impl Authorizer for Helped {
    fn headers<'a>(&'a self, request: Asking<'a>) -> Boxed<'a, Result<Credentials, Failure>> {
        Box::pin(self.credentials(request))
    }

    fn refused<'a>(&'a self, sent: &'a Credentials, challenge: &'a Challenge) -> Boxed<'a, Next> {
        Box::pin(self.next(sent, challenge))
    }

    fn noted(&self, nonce: &Untrusted) {
        if let Some(account) = &self.account {
            account.noted(nonce);
        }
    }
}
