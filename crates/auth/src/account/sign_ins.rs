//! Hearing of sign-ins: for whoever was refused, and waits until it is worth trying again.

use mcparley_model::limits::SIGN_IN_LOOKED_FOR;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Account;
use crate::identity::Identity;

/// The sign-ins that come after an attempt to reach the server. Made before the attempt, so that none is missed which
/// comes while it is under way.
#[derive(Debug)]
pub struct SignIns {
    account: Account,
    /// Those of this process.
    here: watch::Receiver<u64>,
    /// What the vault had when we were refused.
    refused: u64,
    /// Whether it was known then who the person is, where an identity provider says so.
    was_known: bool,
    look: Instant,
}

impl Account {
    /// The sign-ins from now on.
    #[must_use]
    pub fn sign_ins(&self) -> SignIns {
        SignIns {
            account: self.clone(),
            here: self.0.signed_in.subscribe(),
            refused: 0,
            was_known: false,
            look: Instant::now(),
        }
    }
}

impl SignIns {
    /// The attempt was refused with what there is now.
    pub fn refused(&mut self) {
        self.refused = self.account.remembered().map_or(0, |kept| kept.generation);
        self.was_known = self.account.0.identity.as_ref().is_some_and(Identity::remembers_the_person);
        self.look = Instant::now() + SIGN_IN_LOOKED_FOR;
    }

    /// Whether somebody has signed in here, as [`SignIns::next`] is about to tell.
    #[must_use]
    pub fn has_one(&self) -> bool {
        self.here.has_changed().unwrap_or(false)
    }

    /// Ends when somebody has signed in, in this process or in another. Giving up the waiting loses nothing.
    ///
    /// Nobody tells about other processes, so the vault is looked at now and then.
    pub async fn next(&mut self) {
        loop {
            tokio::select! {
                // The sender is as old as the account, which is held here.
                _changed = self.here.changed() => return,
                () = tokio::time::sleep_until(self.look) => {}
            }
            self.look = Instant::now() + SIGN_IN_LOOKED_FOR;
            if self.is_worth_trying().await {
                return;
            }
        }
    }

    /// Whether there are other tokens than those that were refused, or a way to them.
    async fn is_worth_trying(&self) -> bool {
        if self.account.generation().await > self.refused && self.account.has_tokens().await {
            return true;
        }
        !self.was_known && self.account.is_person_known().await
    }
}
