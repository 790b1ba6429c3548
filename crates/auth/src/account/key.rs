//! The DPoP key that new tokens are bound to, where the server wants that.

use mcparley_model::secret::Secret;

use crate::challenge::TokenChallenge;
use crate::discover::DiscoveryResult;
use crate::dpop::{self, Possession, Prover, TokenBinding};
use crate::error::SignInError;

/// The DPoP key for one sign-in, if there is one.
#[derive(Debug)]
pub(super) struct DpopKey {
    wish: TokenBinding,
    prover: Option<Prover>,
}

impl DpopKey {
    /// Generates a key if the server wants bound tokens.
    pub(super) fn generate_if_wanted(
        found: &DiscoveryResult,
        asked: Option<&TokenChallenge>,
    ) -> Result<Self, SignInError> {
        let wish = dpop::choose_token_binding(&found.server, found.resource.as_ref(), asked);
        let prover = match wish {
            TokenBinding::Unbound => None,
            TokenBinding::Offered | TokenBinding::Required => Some(Prover::generate()?),
        };
        Ok(Self { wish, prover })
    }

    /// The proof of possession for a token request.
    pub(super) fn possession(&self) -> Possession<'_> {
        self.prover.as_ref().map_or(Possession::Unbound, |prover| Possession::new(self.wish, prover))
    }

    /// The thumbprint of the key, which names it to the authorization server.
    pub(super) fn thumbprint(&self) -> Option<String> {
        self.prover.as_ref().map(Prover::thumbprint)
    }

    /// The key in the form in which it is stored.
    pub(super) fn to_pkcs8(&self) -> Result<Option<Secret<Vec<u8>>>, SignInError> {
        Ok(self.prover.as_ref().map(Prover::to_pkcs8).transpose()?)
    }
}
