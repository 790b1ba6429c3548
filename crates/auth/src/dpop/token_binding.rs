//! Decides whether tokens are bound to a key.
//!
//! An authorization server that *can* bind tokens does not show that the protected server wants it: many list
//! the algorithms for all their customers, and a server that expects plain bearer tokens refuses a bound one.
//! So the protected server decides, by its metadata or by the scheme of its challenge.

use super::Prover;
use crate::challenge::TokenChallenge;
use crate::grant::TokenError;
use crate::metadata::{AuthServerMetadata, ResourceMetadata};
use crate::tokens::Kind;

/// Whether tokens are bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenBinding {
    /// They are not.
    Unbound,
    /// They are bound if possible; an unbound token is accepted too.
    Offered,
    /// They must be bound.
    Required,
}

/// The key that a requested token is bound to.
#[derive(Clone, Copy, Debug, Default)]
pub enum Possession<'p> {
    /// No key: a bearer token.
    #[default]
    Unbound,
    /// This key, if the server supports it.
    Offered(&'p Prover),
    /// This key; an unbound token is refused.
    Required(&'p Prover),
}

/// Chooses whether tokens from `server` for `resource` are bound, by the metadata and the challenge of the
/// resource.
#[must_use]
pub fn choose_token_binding(
    server: &AuthServerMetadata,
    resource: Option<&ResourceMetadata>,
    asked: Option<&TokenChallenge>,
) -> TokenBinding {
    let challenged = asked.is_some_and(|asked| asked.scheme == Kind::Dpop || asked.takes_either);
    let can = server.dpop.is_empty() || server.dpop.iter().any(|name| name == "ES256");
    if resource.is_some_and(|resource| resource.dpop_required) {
        TokenBinding::Required
    } else if challenged && can {
        TokenBinding::Offered
    } else {
        TokenBinding::Unbound
    }
}

impl<'p> Possession<'p> {
    /// Combines the decision with the key.
    #[must_use]
    pub fn new(wish: TokenBinding, prover: &'p Prover) -> Self {
        match wish {
            TokenBinding::Unbound => Self::Unbound,
            TokenBinding::Offered => Self::Offered(prover),
            TokenBinding::Required => Self::Required(prover),
        }
    }

    /// The key, if there is one.
    #[must_use]
    pub fn prover(&self) -> Option<&'p Prover> {
        match self {
            Self::Unbound => None,
            Self::Offered(prover) | Self::Required(prover) => Some(prover),
        }
    }

    /// Checks that a token of this kind can be used. A token bound to a key that is not ours cannot.
    pub(crate) fn check_token_kind(&self, kind: Kind) -> Result<(), TokenError> {
        match (self, kind) {
            (Self::Required(_), Kind::Bearer) => Err(TokenError::NotBound),
            (Self::Unbound, Kind::Dpop) => Err(TokenError::UnexpectedlyBound),
            (Self::Unbound | Self::Offered(_), Kind::Bearer)
            | (Self::Offered(_) | Self::Required(_), Kind::Dpop) => Ok(()),
        }
    }
}
