//! The key that new tokens are bound to, where the server wants that.

use mcparley_model::secret::Secret;

use crate::challenge::Asked;
use crate::discover::Discovered;
use crate::dpop::{self, Possession, Prover, Wish};
use crate::error::SignInError;

/// The key for one sign-in.
#[derive(Debug)]
pub(super) struct Key {
    wish: Wish,
    prover: Option<Prover>,
}

impl Key {
    /// A new one, if the server wants it.
    pub(super) fn wanted(found: &Discovered, asked: Option<&Asked>) -> Result<Self, SignInError> {
        let wish = dpop::wish(&found.server, found.resource.as_ref(), asked);
        let prover = match wish {
            Wish::Unbound => None,
            Wish::Offered | Wish::Required => Some(Prover::generate()?),
        };
        Ok(Self { wish, prover })
    }

    pub(super) fn possession(&self) -> Possession<'_> {
        self.prover.as_ref().map_or(Possession::Unbound, |prover| Possession::new(self.wish, prover))
    }

    /// Its name for the authorization server.
    pub(super) fn thumbprint(&self) -> Option<String> {
        self.prover.as_ref().map(Prover::thumbprint)
    }

    /// How it is kept.
    pub(super) fn written(&self) -> Result<Option<Secret<Vec<u8>>>, SignInError> {
        Ok(self.prover.as_ref().map(Prover::to_pkcs8).transpose()?)
    }
}
