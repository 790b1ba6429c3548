//! The credentials that requests carry, and the step after a server refuses them.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::config::ConfiguredGrant;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{
    Authorizer, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use mcparley_wire::peer::BoxedFuture;

use super::Account;
use super::sign_in_cache::StoredSignIn;
use crate::challenge::TokenChallenge;
use crate::dpop::{ProofReceiver, ProofRequest};
use crate::error::RenewError;
use crate::scopes;
use crate::tokens::{Kind, Tokens};
use crate::vault::ExpectedEntry;

impl Authorizer for Account {
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
        let Some(kept) = self.cached_sign_in() else { return };
        if let Some(prover) = kept.prover() {
            // A nonce that cannot be used is sent again by the server.
            let _unusable = prover.remember_nonce(ProofReceiver::Resource, &self.0.url, nonce.raw());
        }
    }
}

impl Account {
    async fn load_credentials(&self, request: RequestTarget<'_>) -> Result<Credentials, Failure> {
        let mut kept = match self.load_stored().await {
            Some(kept) => kept,
            // The client's token is at hand, so the server need not ask.
            None if self.active_grant() == ConfiguredGrant::TokenExchange => {
                match self.obtain_tokens_silently(None).await {
                    Ok(kept) => kept,
                    Err(RenewError::Unavailable(failure)) => return Err(failure),
                    Err(RenewError::SignInRequired) => return Ok(Credentials::default()),
                }
            }
            None => return Ok(Credentials::default()),
        };
        let Some(tokens) = &kept.record.tokens else { return Ok(Credentials::default()) };
        if self.is_renewal_due(tokens) {
            match self.renew_token(&tokens.access).await {
                Ok(newer) => kept = newer,
                // The token is still valid for a short while.
                Err(_) if !tokens.is_expired(SystemTime::now()) => self.postpone_renewal(&tokens.access),
                Err(RenewError::Unavailable(failure)) => return Err(failure),
                // The server's refusal of a request without a token says which sign-in it wants.
                Err(RenewError::SignInRequired) => return Ok(Credentials::default()),
            }
        }
        match &kept.record.tokens {
            Some(tokens) => build_credentials(&kept, tokens, request, SystemTime::now()),
            None => Ok(Credentials::default()),
        }
    }

    /// Whether the token is about to expire and there is a way to renew it. Without one it is used until it
    /// expires.
    fn is_renewal_due(&self, tokens: &Tokens) -> bool {
        let now = SystemTime::now();
        let has_a_way = tokens.refresh.is_some() || self.can_request_without_user();
        tokens.is_expired(now)
            || (has_a_way && tokens.is_renewal_due(now) && !self.is_renewal_postponed(&tokens.access))
    }

    async fn handle_challenge(&self, sent: &Credentials, challenge: &Challenge) -> RetryDecision {
        let asked = challenge.www_authenticate.as_ref().and_then(|words| TokenChallenge::parse(words.raw()));
        let wants_nonce = asked.as_ref().is_some_and(TokenChallenge::wants_nonce);
        if let Some(asked) = asked {
            self.note_challenge(asked);
        }
        match (challenge.kind, &sent.token) {
            // The nonce came with the refusal, and the next proof carries it.
            (ChallengeKind::SignIn, Some(_)) if wants_nonce => RetryDecision::RetryUnverified,
            (ChallengeKind::SignIn, Some(token)) => step_after_renewal(self.renew_token(token).await),
            (ChallengeKind::SignIn, None) => self.handle_missing_token(None).await,
            (ChallengeKind::MoreRights, token) => self.handle_missing_scopes(token.as_ref()).await,
        }
    }

    /// The step after a request without a token was refused. Another process may have signed in since, and a
    /// program can sign in by itself.
    async fn handle_missing_token(&self, sent: Option<&Secret<String>>) -> RetryDecision {
        if let Ok(Some(kept)) = self.read_sign_in().await
            && kept.is_usable(SystemTime::now())
            && kept.record.tokens.as_ref().map(|tokens| &tokens.access) != sent
        {
            return RetryDecision::RetryUnverified;
        }
        self.learn_grant().await;
        step_after_renewal(self.obtain_tokens_silently(sent).await)
    }

    /// The step after the server demanded more scopes than the token has. A program requests them at once;
    /// for a user they are stored, so that the next sign-in requests them.
    async fn handle_missing_scopes(&self, sent: Option<&Secret<String>>) -> RetryDecision {
        let Some(asked) = self.last_challenge().filter(TokenChallenge::wants_more_scopes) else {
            return RetryDecision::GiveUp;
        };
        // Another request or another process has obtained them in the meantime.
        if let (Some(token), Ok(Some(kept))) = (sent, self.read_sign_in().await)
            && kept.has_other_token(token)
        {
            return RetryDecision::RetryUnverified;
        }
        if self.record_wanted_scopes(&asked.scope).await {
            return step_after_renewal(self.obtain_tokens_silently(sent).await);
        }
        RetryDecision::GiveUp
    }

    /// Stores scopes for the next token request; returns whether any of them is new.
    async fn record_wanted_scopes(&self, more: &[String]) -> bool {
        let Some(kept) = self.cached_sign_in() else { return true };
        if scopes::merge_scopes(&kept.record.wanted, more) == kept.record.wanted {
            return false;
        }
        let (account, more) = (self.clone(), more.to_vec());
        // Scopes that cannot be stored are demanded again by the server.
        self.0.tasks.run_to_completion(async move { account.store_wanted_scopes(&more).await }).await;
        true
    }

    async fn store_wanted_scopes(&self, more: &[String]) {
        let _alone = self.0.renewing.lock().await;
        let Ok(_lock) = self.lock_record().await else { return };
        let Ok(Some(kept)) = self.read_sign_in().await else { return };
        let mut record = kept.record.clone();
        record.wanted = scopes::merge_scopes(&record.wanted, more);
        if record.wanted != kept.record.wanted {
            // Scopes that cannot be stored are demanded again by the server.
            let _missed = self.write_record(record, ExpectedEntry::Generation(kept.generation)).await;
        }
    }
}

/// Builds the headers for a request: a bearer token, or a DPoP-bound token with its proof.
fn build_credentials(
    kept: &Arc<StoredSignIn>,
    tokens: &Tokens,
    request: RequestTarget<'_>,
    now: SystemTime,
) -> Result<Credentials, Failure> {
    match (tokens.kind, kept.prover()) {
        (Kind::Bearer, _) => Ok(Credentials::from_bearer_token(tokens.access.clone())),
        (Kind::Dpop, Some(prover)) => {
            let RequestTarget { method, url } = request;
            let proof = prover
                .create_proof(&ProofRequest { method, url, token: Some(&tokens.access) }, now)
                .map_err(|error| Failure::Protocol(Arc::from(error.to_string())))?;
            let token = Secret::new(format!("{} {}", Kind::Dpop.as_str(), tokens.access.expose()));
            Ok(Credentials {
                headers: vec![("authorization".to_owned(), token), ("dpop".to_owned(), proof)],
                token: Some(tokens.access.clone()),
            })
        }
        // Without its key the token must not be used.
        (Kind::Dpop, None) => Ok(Credentials::default()),
    }
}

fn step_after_renewal(renewed: Result<Arc<StoredSignIn>, RenewError>) -> RetryDecision {
    match renewed {
        // The server may have refused this token too: it was read from the vault, and its age is unknown.
        Ok(kept) if kept.is_from_vault => RetryDecision::RetryUnverified,
        Ok(_) => RetryDecision::Retry,
        Err(RenewError::SignInRequired) => RetryDecision::GiveUp,
        Err(RenewError::Unavailable(failure)) => RetryDecision::Fail(failure),
    }
}
