//! Decides whether tokens are bound to a key.
//!
//! That an authorization server *can* bind tokens says nothing about the server they are for: many list the algorithms
//! for all their customers, and a server that expects plain bearer tokens refuses a bound one. So it is the protected
//! server that decides, by what it says about itself or by the scheme of its challenge.

use super::Prover;
use crate::challenge::Asked;
use crate::grant::TokenError;
use crate::metadata::{Resource, Server};
use crate::tokens::Kind;

/// Whether tokens are to be bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// No.
    Unbound,
    /// They should be; one that is not is taken all the same.
    Offered,
    /// They must be.
    Required,
}

/// What a token is bound to.
#[derive(Clone, Copy, Debug, Default)]
pub enum Possession<'p> {
    /// Nothing: whoever has it may use it.
    #[default]
    Unbound,
    /// This key, if the server can.
    Offered(&'p Prover),
    /// This key, or it is of no use.
    Required(&'p Prover),
}

/// Whether tokens from `server` for `resource` are to be bound, after the resource has `asked` for one.
#[must_use]
pub fn wish(server: &Server, resource: Option<&Resource>, asked: Option<&Asked>) -> Wish {
    let challenged = asked.is_some_and(|asked| asked.scheme == Kind::Dpop || asked.takes_either);
    let can = server.dpop.is_empty() || server.dpop.iter().any(|name| name == "ES256");
    if resource.is_some_and(|resource| resource.dpop_required) {
        Wish::Required
    } else if challenged && can {
        Wish::Offered
    } else {
        Wish::Unbound
    }
}

impl<'p> Possession<'p> {
    /// As `wish` has it, with `prover`.
    #[must_use]
    pub fn new(wish: Wish, prover: &'p Prover) -> Self {
        match wish {
            Wish::Unbound => Self::Unbound,
            Wish::Offered => Self::Offered(prover),
            Wish::Required => Self::Required(prover),
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

    /// Whether a token of this kind is of use. One that is bound to a key nobody named is not.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), TokenError> {
        match (self, kind) {
            (Self::Required(_), Kind::Bearer) => Err(TokenError::NotBound),
            (Self::Unbound, Kind::Dpop) => Err(TokenError::Bound),
            (Self::Unbound | Self::Offered(_), Kind::Bearer)
            | (Self::Offered(_) | Self::Required(_), Kind::Dpop) => Ok(()),
        }
    }
}
