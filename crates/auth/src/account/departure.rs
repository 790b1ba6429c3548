//! Signing out: what was given is given back, then forgotten (A3).

use std::time::SystemTime;

use super::Account;
use crate::error::SignInError;
use crate::revoke::{self, Revoked, Revoking};

/// What became of a sign-in.
#[derive(Debug)]
pub struct SignedOut {
    /// What became of the tokens at whoever gave them; nothing when there were none.
    pub revoked: Option<Revoked>,
}

impl Account {
    /// Gives the tokens back (RFC 7009) and forgets them, whatever comes of it.
    ///
    /// # Errors
    /// When they cannot be forgotten.
    pub async fn sign_out(&self) -> Result<SignedOut, SignInError> {
        let _alone = self.0.renewing.lock().await;
        let _lock = self.lock().await?;
        let Some(kept) = self.read().await? else { return Ok(SignedOut { revoked: None }) };
        let record = &kept.record;
        let revoked = match &record.tokens {
            Some(tokens) => {
                // Without the key we cannot say who we are; whoever gave them says what that means.
                let signing = self.signing_key(&record.client).ok().flatten();
                let (server, client) = (&record.issuer, &record.client);
                let revoking = Revoking { server, client, signing: signing.as_ref() };
                Some(revoke::revoke(&self.0.web, &revoking, tokens, SystemTime::now()).await)
            }
            None => None,
        };
        self.forget(&kept).await?;
        Ok(SignedOut { revoked })
    }
}
