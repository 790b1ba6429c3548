//! Waits for a sign-in, for a connection that was refused and retries once the user has signed in.

use mcparley_model::limits::SIGN_IN_LOOKED_FOR;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Account;
use crate::identity::UserIdentity;

/// Watches for sign-ins that follow an attempt to reach the server. Created before the attempt, so that a
/// sign-in during the attempt is not missed.
#[derive(Debug)]
pub struct SignInWatcher {
    account: Account,
    /// The count of sign-ins in this process.
    local_sign_ins: watch::Receiver<u64>,
    /// The generation of the vault record when the attempt was refused.
    refused_generation: u64,
    /// Whether the identity provider, where one is used, knew the user at that time.
    was_user_known: bool,
    next_vault_poll: Instant,
}

impl Account {
    /// Watches for sign-ins from now on.
    #[must_use]
    pub fn watch_sign_ins(&self) -> SignInWatcher {
        SignInWatcher {
            account: self.clone(),
            local_sign_ins: self.0.sign_in_count.subscribe(),
            refused_generation: 0,
            was_user_known: false,
            next_vault_poll: Instant::now(),
        }
    }
}

impl SignInWatcher {
    /// Notes that the attempt was refused with the current tokens.
    pub fn note_refusal(&mut self) {
        self.refused_generation = self.account.cached_sign_in().map_or(0, |kept| kept.generation);
        self.was_user_known = self.account.0.identity.as_ref().is_some_and(UserIdentity::remembers_user);
        self.next_vault_poll = Instant::now() + SIGN_IN_LOOKED_FOR;
    }

    /// Whether a sign-in in this process is pending, so that [`SignInWatcher::wait_for_sign_in`] returns at
    /// once.
    #[must_use]
    pub fn has_new_sign_in(&self) -> bool {
        self.local_sign_ins.has_changed().unwrap_or(false)
    }

    /// Waits until the user has signed in, in this process or in another. Cancel-safe.
    ///
    /// Other processes send no notification, so the vault is polled.
    pub async fn wait_for_sign_in(&mut self) {
        loop {
            tokio::select! {
                // The sender lives as long as the account, which is held here.
                _changed = self.local_sign_ins.changed() => return,
                () = tokio::time::sleep_until(self.next_vault_poll) => {}
            }
            self.next_vault_poll = Instant::now() + SIGN_IN_LOOKED_FOR;
            if self.is_worth_trying().await {
                return;
            }
        }
    }

    /// Whether there are tokens other than the refused ones, or a way to obtain them.
    async fn is_worth_trying(&self) -> bool {
        if self.account.stored_generation().await > self.refused_generation && self.account.has_tokens().await
        {
            return true;
        }
        !self.was_user_known && self.account.is_user_known().await
    }
}
