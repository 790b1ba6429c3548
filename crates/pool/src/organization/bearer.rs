//! Bearer token for all connectors, with single-flight renewal: many refused requests cause one renewal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcparley_model::secret::Secret;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{
    Authorizer, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use mcparley_wire::peer::BoxedFuture;
use tokio::sync::Mutex;

/// A source of the token for the organization's connectors.
pub trait TokenSource: Send + Sync + 'static {
    /// The token to send now, if there is one.
    fn current_token(&self) -> Option<Secret<String>>;

    /// Renews the token after `sent` was refused; the result becomes the current one. `None` if there is no
    /// newer token. Never called concurrently.
    fn renew_token<'a>(&'a self, sent: &'a Secret<String>) -> BoxedFuture<'a, Option<Secret<String>>>;

    /// The reason there is no token, if it is known.
    fn missing_reason(&self) -> Option<String> {
        None
    }
}

/// Authorizes requests with the token of a source.
pub(super) struct ConnectorBearer {
    source: Arc<dyn TokenSource>,
    renewing: Mutex<()>,
    /// The number of renewals tried so far.
    tried: AtomicU64,
}

impl ConnectorBearer {
    pub(super) fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { source, renewing: Mutex::new(()), tried: AtomicU64::new(0) }
    }

    pub(super) fn token(&self) -> Option<Secret<String>> {
        self.source.current_token()
    }

    pub(super) fn missing_reason(&self) -> Option<String> {
        self.source.missing_reason()
    }

    /// Whether there is another token than the one that was sent, after a renewal if needed. Single flight:
    /// concurrent callers share one renewal and its result, failures included.
    async fn renew_if_needed(&self, sent: &Secret<String>) -> bool {
        let before = self.tried.load(Ordering::Acquire);
        if self.has_other_token(sent) {
            return true;
        }
        let _alone = self.renewing.lock().await;
        // A caller that waited for another's renewal shares its result, a failure too.
        if self.has_other_token(sent) || self.tried.load(Ordering::Acquire) != before {
            return self.has_other_token(sent);
        }
        let newer = self.source.renew_token(sent).await;
        self.tried.fetch_add(1, Ordering::Release);
        newer.is_some_and(|newer| newer != *sent)
    }

    fn has_other_token(&self, sent: &Secret<String>) -> bool {
        self.source.current_token().is_some_and(|current| current != *sent)
    }
}

impl Authorizer for ConnectorBearer {
    fn authorize_request<'a>(
        &'a self,
        _request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        let credentials = self.source.current_token().map(Credentials::from_bearer_token);
        let credentials = credentials.ok_or(Failure::Unauthorized { challenge: None });
        Box::pin(std::future::ready(credentials))
    }

    fn handle_refusal<'a>(
        &'a self,
        sent: &'a Credentials,
        challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        Box::pin(async move {
            match (challenge.kind, &sent.token) {
                (ChallengeKind::SignIn, Some(token)) if self.renew_if_needed(token).await => {
                    RetryDecision::Retry
                }
                // A renewed token would not have more scopes.
                (ChallengeKind::SignIn | ChallengeKind::MoreRights, _) => RetryDecision::GiveUp,
            }
        })
    }
}

impl std::fmt::Debug for ConnectorBearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bearer(***)")
    }
}
