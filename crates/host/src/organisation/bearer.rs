//! One token for all connectors, and one renewal however many requests it is refused to (T7).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcparley_model::secret::Secret;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{Asking, Authorizer, Challenge, Credentials, Next, Wants};
use mcparley_wire::peer::Boxed;
use tokio::sync::Mutex;

/// Something that has the token for the organisation's connectors.
pub trait TokenSource: Send + Sync + 'static {
    /// The token to send now, if there is one.
    fn current(&self) -> Option<Secret<String>>;

    /// A newer token than `sent`, which was refused; from then on it is the current one. `None` when there is no
    /// newer one. Never asked twice at the same time.
    fn renew<'a>(&'a self, sent: &'a Secret<String>) -> Boxed<'a, Option<Secret<String>>>;

    /// Why there is no token, where that is known.
    fn why_none(&self) -> Option<String> {
        None
    }
}

/// Lets requests in with the token of a source.
pub(super) struct Bearer {
    source: Arc<dyn TokenSource>,
    renewing: Mutex<()>,
    /// How many renewals have been tried.
    tried: AtomicU64,
}

impl Bearer {
    pub(super) fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { source, renewing: Mutex::new(()), tried: AtomicU64::new(0) }
    }

    pub(super) fn token(&self) -> Option<Secret<String>> {
        self.source.current()
    }

    pub(super) fn why_none(&self) -> Option<String> {
        self.source.why_none()
    }

    /// Whether there is another token than the one that was sent, after a renewal if it takes one.
    async fn is_renewed(&self, sent: &Secret<String>) -> bool {
        let before = self.tried.load(Ordering::Acquire);
        if self.has_other(sent) {
            return true;
        }
        let _alone = self.renewing.lock().await;
        // Who waited while another tried has its answer, a bad one too.
        if self.has_other(sent) || self.tried.load(Ordering::Acquire) != before {
            return self.has_other(sent);
        }
        let newer = self.source.renew(sent).await;
        self.tried.fetch_add(1, Ordering::Release);
        newer.is_some_and(|newer| newer != *sent)
    }

    fn has_other(&self, sent: &Secret<String>) -> bool {
        self.source.current().is_some_and(|current| current != *sent)
    }
}

impl Authorizer for Bearer {
    fn headers<'a>(&'a self, _request: Asking<'a>) -> Boxed<'a, Result<Credentials, Failure>> {
        let credentials = self.source.current().map(Credentials::bearer);
        let credentials = credentials.ok_or(Failure::Unauthorized { challenge: None });
        Box::pin(std::future::ready(credentials))
    }

    fn refused<'a>(&'a self, sent: &'a Credentials, challenge: &'a Challenge) -> Boxed<'a, Next> {
        Box::pin(async move {
            match (challenge.wants, &sent.token) {
                (Wants::SignIn, Some(token)) if self.is_renewed(token).await => Next::Again,
                // No other token gives rights that this one lacks.
                (Wants::SignIn | Wants::MoreRights, _) => Next::GiveUp,
            }
        })
    }
}

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bearer(***)")
    }
}
