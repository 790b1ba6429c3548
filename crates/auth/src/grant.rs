//! Token requests: every grant goes through [`request_tokens`].
//!
//! Requests are built in `form` and `credentials`, responses are parsed in `response`, and refusals are
//! classified in `refusal`. The caller decides which grant is tried, and the step after a refusal: a request
//! is sent once, and again only when the server wants a nonce in the proof of possession (RFC 9449, 8) or
//! rejects the client authentication method.

mod choice;
mod credentials;
mod error;
mod form;
mod form_request;
mod refusal;
mod response;

#[cfg(test)]
pub(crate) mod tests;

use std::time::SystemTime;

use mcparley_model::secret::Secret;
use url::Url;

pub use choice::{HeldCredentials, choose_auth_method};
pub use credentials::ClientAuthError;
pub use error::TokenError;
pub use refusal::{OAuthErrorCode, TokenRefusal};
pub use response::TokenResponseError;

pub(crate) use form::OAuthParameters;
pub(crate) use form_request::{AcceptedForm, TokenEndpoint, post_form};
pub(crate) use refusal::check_response;
pub(crate) use response::{parse_access_token, parse_object, parse_scopes, text_field};

use crate::client::{ClientAuthMethod, OAuthClient};
use crate::dpop::Possession;
use crate::jwt::SigningKey;
use crate::metadata::AuthServerMetadata;
use crate::tokens::Tokens;
use crate::web::Web;

/// A token request.
#[derive(Clone, Copy, Debug)]
pub struct TokenRequest<'r> {
    /// The authorization server.
    pub server: &'r AuthServerMetadata,
    /// Our client.
    pub client: &'r OAuthClient,
    /// The grant.
    pub grant: TokenGrant<'r>,
    /// The resource the token is for, byte for byte as it names itself (RFC 8707).
    pub resource: Option<&'r str>,
    /// The scopes of the token. Sent only where the grant does not determine them, as a code, a device code
    /// and a refresh token do; assumed where the response does not list them.
    pub scopes: &'r [String],
}

/// The grant of a token request.
#[derive(Clone, Copy, Debug)]
pub enum TokenGrant<'r> {
    /// An authorization code with PKCE: the user's consent in a browser (RFC 6749, 4.1; RFC 7636).
    Code {
        /// The authorization code.
        code: &'r Secret<String>,
        /// The PKCE verifier.
        verifier: &'r Secret<String>,
        /// The redirect address.
        redirect: &'r Url,
    },
    /// A refresh token from an earlier response (RFC 6749, 6).
    Refresh {
        /// The refresh token.
        token: &'r Secret<String>,
    },
    /// The client's own credentials (RFC 6749, 4.4).
    ClientCredentials,
    /// A device code: the user's consent on another device (RFC 8628).
    Device {
        /// The device code.
        code: &'r Secret<String>,
    },
    /// A token of the same issuer, exchanged for one for another resource (RFC 8693, 2.1).
    Exchange {
        /// The token of the party on whose behalf the new one is used.
        subject: &'r Secret<String>,
        /// The logical name of the target, for issuers that do not go by `resource`.
        audience: Option<&'r str>,
    },
    /// An assertion signed by a party the server trusts (RFC 7523, 2.1): an ID-JAG, or a workload identity.
    JwtBearer {
        /// The assertion.
        assertion: &'r Secret<String>,
    },
}

/// The keys that sign a token request.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenRequestKeys<'k> {
    /// The key for `private_key_jwt`.
    pub signing: Option<&'k SigningKey>,
    /// The key that the token is bound to.
    pub possession: Possession<'k>,
}

/// A successful token response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenResponse {
    /// The tokens.
    pub tokens: Tokens,
    /// The ID token, where the server is an identity provider.
    pub id_token: Option<Secret<String>>,
    /// The client authentication method that worked, to be used from now on.
    pub proof: ClientAuthMethod,
}

/// Requests tokens.
///
/// # Errors
/// A [`TokenError`]; its methods classify it.
pub async fn request_tokens(
    web: &Web,
    request: &TokenRequest<'_>,
    keys: &TokenRequestKeys<'_>,
    now: SystemTime,
) -> Result<TokenResponse, TokenError> {
    let token_endpoint = TokenEndpoint {
        endpoint: &request.server.token_endpoint,
        server: request.server,
        client: request.client,
        keys,
    };
    let AcceptedForm { page, proof } =
        post_form(web, &token_endpoint, &form::token_parameters(request), now).await?;
    let granted =
        TokenResponse { proof, ..response::parse_token_response(&parse_object(&page)?, request, now)? };
    keys.possession.check_token_kind(granted.tokens.kind)?;
    Ok(granted)
}
