//! Chooses who we are to an authorization server: what is configured, then the document about us, then a registration.
//!
//! The order is that of the specification. A registration kept from an earlier sign-in is the caller's to find, and
//! counts only for the issuer it came from (H33).

use mcparley_model::secret::Secret;
use url::Url;

use super::RegisterError;
use crate::client::{Client, Origin};
use crate::grant::{Held, choose};
use crate::metadata::Server;

/// What we could be known by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'k> {
    /// What the server's entry says.
    pub configured: Option<Configured<'k>>,
    /// Where a document describes this program; the address is its id.
    pub document: Option<&'k Url>,
    /// Whether there is a key to sign with.
    pub key: bool,
    /// Where browsers are sent back to.
    pub redirect: Option<&'k Url>,
}

/// A client that was registered beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Configured<'k> {
    /// Its id.
    pub id: &'k str,
    /// Its secret.
    pub secret: Option<&'k Secret<String>>,
}

/// Who we are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Somebody already.
    Known(Client),
    /// Nobody yet: [`register`](super::register()) first.
    Unregistered,
}

/// Who we are to `server`.
///
/// # Errors
/// [`RegisterError::NoWay`] when we are nobody and cannot become somebody.
pub fn identify(server: &Server, known: &Known<'_>) -> Result<Identity, RegisterError> {
    let client = |id: &str, secret: Option<&Secret<String>>, origin| {
        let held = Held { secret: secret.is_some(), key: known.key };
        Identity::Known(Client {
            id: id.to_owned(),
            secret: secret.cloned(),
            proof: choose(server.proofs.as_deref(), held, None),
            redirect: known.redirect.cloned(),
            origin,
            scopes: Vec::new(),
        })
    };
    match (known.configured, known.document) {
        (Some(Configured { id, secret }), _) => Ok(client(id, secret, Origin::Configured)),
        (None, Some(document)) if server.takes_documents => {
            Ok(client(document.as_str(), None, Origin::Document))
        }
        (None, _) if server.registration_endpoint.is_some() => Ok(Identity::Unregistered),
        (None, _) => Err(RegisterError::NoWay),
    }
}
