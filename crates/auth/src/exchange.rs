//! Sign-in across applications (SEP-990): the identity provider's `id_token` becomes an ID-JAG, and that an access token.
//!
//! Each of the two is worth something to one party alone, and is sent to no other (H34). The types carry that: an
//! [`IdToken`] knows its provider and an [`IdJag`] its authorization server, both exist only checked (`check`), and both
//! are held against the party they are about to be sent to.

mod check;

#[cfg(test)]
mod tests;

use std::time::SystemTime;

use mcparley_model::explain::Explain;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;

pub use check::{Expected, Flaw, IdJag, IdToken};

use crate::client::Client;
use crate::grant::{
    self, ErrorCode, Grant, Granted, Keys, Pairs, TokenEndpoint, TokenError, TokenRequest, ask, scopes_in,
};
use crate::metadata::Server;
use crate::web::Web;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// A server that gives tokens, and who we are to it.
#[derive(Clone, Copy, Debug)]
pub struct Party<'p> {
    /// The server, as it was found and believed.
    pub server: &'p Server,
    /// Who we are to it.
    pub client: &'p Client,
    /// What is signed with.
    pub keys: &'p Keys<'p>,
}

/// What an ID-JAG is to open.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The authorization server it will be shown to, by its issuer.
    pub audience: &'w str,
    /// Who we are there.
    pub client: &'w str,
    /// The protected server, byte for byte as it names itself.
    pub resource: &'w str,
    /// What for.
    pub scopes: &'w [String],
}

/// Why there is no token.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExchangeError {
    /// What says who signed in does not hold good.
    #[error("the sign-in at the identity provider cannot be used")]
    IdToken(#[source] Flaw),
    /// What the provider gave for it does not hold good.
    #[error("the identity provider gave a grant that cannot be used")]
    IdJag(#[source] Flaw),
    /// The provider gave something else.
    #[error("the identity provider gave a `{}` and no ID-JAG", .kind.display())]
    NoIdJag {
        /// What.
        kind: Untrusted,
    },
    /// The provider did not give it.
    #[error("the identity provider does not vouch for us")]
    Provider(#[source] TokenError),
    /// The authorization server did not take it.
    #[error("the authorization server does not take the word of the identity provider")]
    Server(#[source] TokenError),
}

/// Asks the identity provider for an ID-JAG (RFC 8693). It alone sees the `id_token`.
///
/// # Errors
/// An [`ExchangeError`]. With [`ExchangeError::IdToken`] nothing was sent.
pub async fn id_jag(
    web: &Web,
    provider: &Party<'_>,
    id_token: &IdToken,
    wanted: &Wanted<'_>,
    now: SystemTime,
) -> Result<IdJag, ExchangeError> {
    let Party { server, client, keys } = *provider;
    let token = id_token.for_provider(server, client, now).map_err(ExchangeError::IdToken)?;
    let keys = Keys { signing: keys.signing, ..Keys::default() };
    let token_endpoint = TokenEndpoint { endpoint: &server.token_endpoint, server, client, keys: &keys };
    let accepted = grant::post(web, &token_endpoint, &pairs(token, wanted), now).await;
    let page = accepted.map_err(ExchangeError::Provider)?.page;
    let malformed = |error| ExchangeError::Provider(TokenError::Malformed(error));
    let answer = grant::object(&page).map_err(malformed)?;
    // The grant itself says what it is as well; a provider that leaves it out here is only careless.
    if let Some(kind) = grant::text(&answer, "issued_token_type").filter(|kind| *kind != ID_JAG) {
        return Err(ExchangeError::NoIdJag {
            kind: Untrusted::new(kind.chars().take(100).collect::<String>()),
        });
    }
    let given = grant::access(&answer).map_err(malformed)?;
    let scopes = scopes_in(&answer).unwrap_or_else(|| wanted.scopes.to_vec());
    IdJag::checked(given, &server.issuer, &Wanted { scopes: &scopes, ..*wanted }, now)
        .map_err(ExchangeError::IdJag)
}

/// Shows an ID-JAG to the authorization server it is for (RFC 7523). It alone sees it.
///
/// # Errors
/// An [`ExchangeError`]. With [`ExchangeError::IdJag`] nothing was sent.
pub async fn redeem(
    web: &Web,
    party: &Party<'_>,
    id_jag: &IdJag,
    now: SystemTime,
) -> Result<Granted, ExchangeError> {
    let Party { server, client, keys } = *party;
    let assertion = id_jag.for_server(server, client, now).map_err(ExchangeError::IdJag)?;
    let request = TokenRequest {
        server,
        client,
        grant: Grant::JwtBearer { assertion },
        resource: Some(id_jag.resource()),
        scopes: id_jag.scopes(),
    };
    ask(web, &request, keys, now).await.map_err(ExchangeError::Server)
}

fn pairs(token: &Secret<String>, wanted: &Wanted<'_>) -> Pairs {
    Pairs::default()
        .with("grant_type", EXCHANGE)
        .with("requested_token_type", ID_JAG)
        .with("audience", wanted.audience)
        .with_resource(Some(wanted.resource))
        .with_scopes(wanted.scopes)
        .with("subject_token", token.expose())
        .with("subject_token_type", ID_TOKEN)
}

impl ExchangeError {
    /// Whether a person must sign in at the identity provider again before this can succeed.
    #[must_use]
    pub fn needs_sign_in(&self) -> bool {
        match self {
            Self::IdToken(_) => true,
            Self::Provider(error) => {
                matches!(error.code(), Some(ErrorCode::InvalidGrant | ErrorCode::PersonNeeded))
            }
            Self::IdJag(_) | Self::NoIdJag { .. } | Self::Server(_) => false,
        }
    }
}

impl Explain for ExchangeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::IdToken(_) => Some("sign in at the identity provider again".to_owned()),
            Self::Provider(_) if self.needs_sign_in() => {
                Some("sign in at the identity provider again".to_owned())
            }
            Self::IdJag(Flaw::Client) => Some(
                "the identity provider must know the server's `oauth.clientId`; ask its operator".to_owned(),
            ),
            Self::IdJag(_) | Self::NoIdJag { .. } => {
                Some("ask the operator of the identity provider whether it supports ID-JAG".to_owned())
            }
            Self::Provider(error) | Self::Server(error) => error.hint(),
        }
    }
}
