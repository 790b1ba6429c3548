//! Cross-app access (XAA, SEP-990): the identity provider's `id_token` is exchanged for an ID-JAG, and that
//! for an access token.
//!
//! Each of the two tokens is meant for one party, and is sent to no other. The types enforce that: an
//! [`IdToken`] knows its provider and an [`IdJag`] its authorization server, both exist only after
//! verification (`check`), and both are compared with the party they are about to be sent to.

mod check;

#[cfg(test)]
mod tests;

use std::time::SystemTime;

use mcparley_model::explain::Explain;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;

pub use check::{ExpectedIdToken, IdJag, IdToken, TokenFlaw};

use crate::client::OAuthClient;
use crate::grant::{
    self, OAuthErrorCode, OAuthParameters, TokenEndpoint, TokenError, TokenGrant, TokenRequest,
    TokenRequestKeys, TokenResponse, parse_scopes, request_tokens,
};
use crate::metadata::AuthServerMetadata;
use crate::web::Web;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// A server that issues tokens, and our client there.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeParty<'p> {
    /// The metadata of the server.
    pub server: &'p AuthServerMetadata,
    /// Our client there.
    pub client: &'p OAuthClient,
    /// The keys for client authentication.
    pub keys: &'p TokenRequestKeys<'p>,
}

/// The parameters of a request for an ID-JAG.
#[derive(Clone, Copy, Debug)]
pub struct IdJagRequest<'w> {
    /// The issuer of the authorization server that will redeem it.
    pub audience: &'w str,
    /// The id of our client there.
    pub client: &'w str,
    /// The protected server, byte for byte as it names itself.
    pub resource: &'w str,
    /// The scopes.
    pub scopes: &'w [String],
}

/// The reason why the exchange yielded no token.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The ID token is not valid.
    #[error("the sign-in to the identity provider cannot be used")]
    IdToken(#[source] TokenFlaw),
    /// The ID-JAG is not valid.
    #[error("the identity provider returned a grant that cannot be used")]
    IdJag(#[source] TokenFlaw),
    /// The identity provider returned another type of token.
    #[error("the identity provider returned a `{}` instead of an ID-JAG", .kind.display_line())]
    NoIdJag {
        /// The type of the token.
        kind: Untrusted,
    },
    /// The identity provider refused the exchange.
    #[error("the identity provider refused the token exchange")]
    Provider(#[source] TokenError),
    /// The authorization server refused the ID-JAG.
    #[error("the authorization server refused the identity provider's grant")]
    Server(#[source] TokenError),
}

/// Requests an ID-JAG from the identity provider (RFC 8693). Only the provider receives the `id_token`.
///
/// # Errors
/// An [`ExchangeError`]. With [`ExchangeError::IdToken`] nothing was sent.
pub async fn request_id_jag(
    web: &Web,
    provider: &ExchangeParty<'_>,
    id_token: &IdToken,
    wanted: &IdJagRequest<'_>,
    now: SystemTime,
) -> Result<IdJag, ExchangeError> {
    let ExchangeParty { server, client, keys } = *provider;
    let token = id_token.token_for_provider(server, client, now).map_err(ExchangeError::IdToken)?;
    let keys = TokenRequestKeys { signing: keys.signing, ..TokenRequestKeys::default() };
    let token_endpoint = TokenEndpoint { endpoint: &server.token_endpoint, server, client, keys: &keys };
    let accepted = grant::post_form(web, &token_endpoint, &exchange_parameters(token, wanted), now).await;
    let page = accepted.map_err(ExchangeError::Provider)?.page;
    let malformed = |error| ExchangeError::Provider(TokenError::Malformed(error));
    let answer = grant::parse_object(&page).map_err(malformed)?;
    // The ID-JAG itself states its type as well; a provider that omits it here is tolerated.
    if let Some(kind) = grant::text_field(&answer, "issued_token_type").filter(|kind| *kind != ID_JAG) {
        return Err(ExchangeError::NoIdJag {
            kind: Untrusted::new(kind.chars().take(100).collect::<String>()),
        });
    }
    let given = grant::parse_access_token(&answer).map_err(malformed)?;
    let scopes = parse_scopes(&answer).unwrap_or_else(|| wanted.scopes.to_vec());
    IdJag::verify_claims(given, &server.issuer, &IdJagRequest { scopes: &scopes, ..*wanted }, now)
        .map_err(ExchangeError::IdJag)
}

/// Redeems an ID-JAG at the authorization server it is for (RFC 7523). No other server receives it.
///
/// # Errors
/// An [`ExchangeError`]. With [`ExchangeError::IdJag`] nothing was sent.
pub async fn redeem_id_jag(
    web: &Web,
    party: &ExchangeParty<'_>,
    id_jag: &IdJag,
    now: SystemTime,
) -> Result<TokenResponse, ExchangeError> {
    let ExchangeParty { server, client, keys } = *party;
    let assertion = id_jag.token_for_server(server, client, now).map_err(ExchangeError::IdJag)?;
    let request = TokenRequest {
        server,
        client,
        grant: TokenGrant::JwtBearer { assertion },
        resource: Some(id_jag.resource()),
        scopes: id_jag.scopes(),
    };
    request_tokens(web, &request, keys, now).await.map_err(ExchangeError::Server)
}

fn exchange_parameters(token: &Secret<String>, wanted: &IdJagRequest<'_>) -> OAuthParameters {
    OAuthParameters::default()
        .with_parameter("grant_type", EXCHANGE)
        .with_parameter("requested_token_type", ID_JAG)
        .with_parameter("audience", wanted.audience)
        .with_resource(Some(wanted.resource))
        .with_scopes(wanted.scopes)
        .with_parameter("subject_token", token.expose())
        .with_parameter("subject_token_type", ID_TOKEN)
}

impl ExchangeError {
    /// Whether the user must sign in to the identity provider again before this can succeed.
    #[must_use]
    pub fn needs_sign_in(&self) -> bool {
        match self {
            Self::IdToken(_) => true,
            Self::Provider(error) => {
                matches!(
                    error.code(),
                    Some(OAuthErrorCode::InvalidGrant | OAuthErrorCode::InteractionRequired)
                )
            }
            Self::IdJag(_) | Self::NoIdJag { .. } | Self::Server(_) => false,
        }
    }
}

impl Explain for ExchangeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::IdToken(_) => {
                Some("sign in to the identity provider again: `mcparley auth idp login`".to_owned())
            }
            Self::Provider(_) if self.needs_sign_in() => {
                Some("sign in to the identity provider again: `mcparley auth idp login`".to_owned())
            }
            Self::IdJag(TokenFlaw::Client) => Some(
                "the identity provider must know the server's `oauth.clientId`; ask its operator".to_owned(),
            ),
            Self::IdJag(_) | Self::NoIdJag { .. } => {
                Some("ask the operator of the identity provider whether it supports ID-JAG".to_owned())
            }
            Self::Provider(error) | Self::Server(error) => error.hint(),
        }
    }
}
