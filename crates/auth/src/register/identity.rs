//! Chooses the client at an authorization server: the configured one, then the client metadata document, then
//! a registration.
//!
//! The order is that of the specification. The caller looks up the registration of an earlier sign-in, which
//! is used only with the issuer it came from.

use mcparley_model::secret::Secret;
use url::Url;

use super::RegisterError;
use crate::client::{ClientIdOrigin, OAuthClient};
use crate::grant::{HeldCredentials, choose_auth_method};
use crate::metadata::AuthServerMetadata;

/// The clients we could use.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientCandidates<'k> {
    /// The client in the server's entry.
    pub configured: Option<ConfiguredClient<'k>>,
    /// The URL of our client metadata document, which is the client id.
    pub document: Option<&'k Url>,
    /// Whether there is a key to sign with.
    pub key: bool,
    /// The redirect address.
    pub redirect: Option<&'k Url>,
}

/// A client that was registered beforehand.
#[derive(Clone, Copy, Debug)]
pub struct ConfiguredClient<'k> {
    /// Its id.
    pub id: &'k str,
    /// Its secret.
    pub secret: Option<&'k Secret<String>>,
}

/// The chosen client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientChoice {
    /// This client.
    Known(OAuthClient),
    /// None yet: call [`register_client`](super::register_client()) first.
    Unregistered,
}

/// Chooses the client to use at `server`.
///
/// # Errors
/// [`RegisterError::Unsupported`] when there is no client and registration is not supported.
pub fn choose_client(
    server: &AuthServerMetadata,
    known: &ClientCandidates<'_>,
) -> Result<ClientChoice, RegisterError> {
    let client = |id: &str, secret: Option<&Secret<String>>, origin| {
        let held = HeldCredentials { secret: secret.is_some(), key: known.key };
        ClientChoice::Known(OAuthClient {
            id: id.to_owned(),
            secret: secret.cloned(),
            proof: choose_auth_method(server.proofs.as_deref(), held, None),
            redirect: known.redirect.cloned(),
            origin,
            scopes: Vec::new(),
        })
    };
    match (known.configured, known.document) {
        (Some(ConfiguredClient { id, secret }), _) => Ok(client(id, secret, ClientIdOrigin::Configured)),
        (None, Some(document)) if server.takes_documents => {
            Ok(client(document.as_str(), None, ClientIdOrigin::Document))
        }
        (None, _) if server.registration_endpoint.is_some() => Ok(ClientChoice::Unregistered),
        (None, _) => Err(RegisterError::Unsupported),
    }
}
