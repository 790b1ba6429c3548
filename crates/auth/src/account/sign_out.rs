//! Signing out: tokens are revoked, then removed.

use std::time::SystemTime;

use super::Account;
use crate::error::SignInError;
use crate::revoke::{self, RevocationReport, RevocationRequest};

/// The outcome of a sign-out.
#[derive(Debug)]
pub struct SignOutOutcome {
    /// The outcome of the revocation; `None` when there were no tokens.
    pub revoked: Option<RevocationReport>,
}

impl Account {
    /// Revokes the tokens (RFC 7009) and removes them, even when the revocation fails.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub async fn sign_out(&self) -> Result<SignOutOutcome, SignInError> {
        let _alone = self.0.renewing.lock().await;
        let _lock = self.lock_record().await?;
        let Some(kept) = self.read_sign_in().await? else { return Ok(SignOutOutcome { revoked: None }) };
        let record = &kept.record;
        let revoked = match &record.tokens {
            Some(tokens) => {
                // Without the signing key the client cannot authenticate; the authorization server decides
                // whether that matters.
                let signing = self.signing_key(&record.client).ok().flatten();
                let (server, client) = (&record.issuer, &record.client);
                let revoking = RevocationRequest { server, client, signing: signing.as_ref() };
                Some(revoke::revoke_tokens(&self.0.web, &revoking, tokens, SystemTime::now()).await)
            }
            None => None,
        };
        self.remove_record(&kept).await?;
        Ok(SignOutOutcome { revoked })
    }
}
