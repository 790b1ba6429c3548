//! What requests carry, and what follows when the server refuses it.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{Asking, Authorizer, Challenge, Credentials, Next, Wants};
use mcparley_wire::peer::Boxed;

use super::Account;
use super::memory::StoredSignIn;
use super::renewal::RenewError;
use crate::challenge::Asked;
use crate::dpop::{Party, Proving};
use crate::scopes;
use crate::tokens::{Kind, Tokens};
use crate::vault::Expected;

impl Authorizer for Account {
    fn headers<'a>(&'a self, request: Asking<'a>) -> Boxed<'a, Result<Credentials, Failure>> {
        Box::pin(self.credentials(request))
    }

    fn refused<'a>(&'a self, sent: &'a Credentials, challenge: &'a Challenge) -> Boxed<'a, Next> {
        Box::pin(self.next(sent, challenge))
    }

    fn noted(&self, nonce: &Untrusted) {
        let Some(kept) = self.remembered() else { return };
        if let Some(prover) = kept.prover() {
            // One that cannot be used is asked for again.
            let _unusable = prover.remember(Party::Resource, &self.0.url, nonce.raw());
        }
    }
}

impl Account {
    async fn credentials(&self, request: Asking<'_>) -> Result<Credentials, Failure> {
        let Some(mut kept) = self.kept().await else { return Ok(Credentials::default()) };
        let Some(tokens) = &kept.record.tokens else { return Ok(Credentials::default()) };
        if self.is_to_be_renewed(tokens) {
            match self.renew(&tokens.access).await {
                Ok(newer) => kept = newer,
                // It lasts for a little while yet.
                Err(_) if !tokens.is_over(SystemTime::now()) => self.put_off(&tokens.access),
                Err(RenewError::Trouble(failure)) => return Err(failure),
                // The server says what it wants of those who come with nothing.
                Err(RenewError::Over) => return Ok(Credentials::default()),
            }
        }
        match &kept.record.tokens {
            Some(tokens) => carried(&kept, tokens, request, SystemTime::now()),
            None => Ok(Credentials::default()),
        }
    }

    /// Whether the token is about to end, and there is a way to another one. Without one it is used to its end.
    fn is_to_be_renewed(&self, tokens: &Tokens) -> bool {
        let now = SystemTime::now();
        let has_a_way = tokens.refresh.is_some() || self.needs_nobody();
        tokens.is_over(now) || (has_a_way && tokens.is_due(now) && !self.is_put_off(&tokens.access))
    }

    async fn next(&self, sent: &Credentials, challenge: &Challenge) -> Next {
        let asked = challenge.words.as_ref().and_then(|words| Asked::read(words.raw()));
        let wants_nonce = asked.as_ref().is_some_and(Asked::wants_a_nonce);
        if let Some(asked) = asked {
            self.note(asked);
        }
        match (challenge.wants, &sent.token) {
            // The nonce came with the refusal, and the next proof has it.
            (Wants::SignIn, Some(_)) if wants_nonce => Next::Try,
            (Wants::SignIn, Some(token)) => follow(self.renew(token).await),
            (Wants::SignIn, None) => self.first(None).await,
            (Wants::MoreRights, token) => self.more(token.as_ref()).await,
        }
    }

    /// Nothing was sent. Perhaps somebody has signed in since; and programs can sign in by themselves.
    async fn first(&self, sent: Option<&Secret<String>>) -> Next {
        if let Ok(Some(kept)) = self.read().await
            && kept.is_of_use(SystemTime::now())
            && kept.record.tokens.as_ref().map(|tokens| &tokens.access) != sent
        {
            return Next::Try;
        }
        self.learn_grant().await;
        follow(self.get_alone(sent).await)
    }

    /// The server wants more rights than the token gives. Programs ask for them at once; for people it is taken down, so
    /// that the next sign-in asks for them.
    async fn more(&self, sent: Option<&Secret<String>>) -> Next {
        let Some(asked) = self.asked().filter(Asked::wants_more_scopes) else { return Next::GiveUp };
        // Another request has got them meanwhile, or another process.
        if let (Some(token), Ok(Some(kept))) = (sent, self.read().await)
            && kept.is_other_than(token)
        {
            return Next::Try;
        }
        if self.want(&asked.scope).await {
            return follow(self.get_alone(sent).await);
        }
        Next::GiveUp
    }

    /// Takes down scopes to ask for; says whether any of them is new.
    async fn want(&self, more: &[String]) -> bool {
        let Some(kept) = self.remembered() else { return true };
        if scopes::union(&kept.record.wanted, more) == kept.record.wanted {
            return false;
        }
        let (account, more) = (self.clone(), more.to_vec());
        // What cannot be taken down is asked for again by the server.
        self.0.tasks.finish(async move { account.take_down(&more).await }).await;
        true
    }

    async fn take_down(&self, more: &[String]) {
        let _alone = self.0.renewing.lock().await;
        let Ok(_lock) = self.lock().await else { return };
        let Ok(Some(kept)) = self.read().await else { return };
        let mut record = kept.record.clone();
        record.wanted = scopes::union(&record.wanted, more);
        if record.wanted != kept.record.wanted {
            // As above.
            let _missed = self.write(record, Expected::Generation(kept.generation)).await;
        }
    }
}

/// What a request carries.
fn carried(
    kept: &Arc<StoredSignIn>,
    tokens: &Tokens,
    request: Asking<'_>,
    now: SystemTime,
) -> Result<Credentials, Failure> {
    match (tokens.kind, kept.prover()) {
        (Kind::Bearer, _) => Ok(Credentials::bearer(tokens.access.clone())),
        (Kind::Dpop, Some(prover)) => {
            let Asking { method, url } = request;
            let proof = prover
                .proof(&Proving { method, url, token: Some(&tokens.access) }, now)
                .map_err(|error| Failure::Protocol(Arc::from(error.to_string())))?;
            let token = Secret::new(format!("{} {}", Kind::Dpop.as_str(), tokens.access.expose()));
            Ok(Credentials {
                headers: vec![("authorization".to_owned(), token), ("dpop".to_owned(), proof)],
                token: Some(tokens.access.clone()),
            })
        }
        // The key is gone, and with it the right to use the token.
        (Kind::Dpop, None) => Ok(Credentials::default()),
    }
}

fn follow(renewed: Result<Arc<StoredSignIn>, RenewError>) -> Next {
    match renewed {
        // The server may have refused that one too, for all we know.
        Ok(kept) if kept.is_learnt => Next::Try,
        Ok(_) => Next::Again,
        Err(RenewError::Over) => Next::GiveUp,
        Err(RenewError::Trouble(failure)) => Next::Fail(failure),
    }
}
