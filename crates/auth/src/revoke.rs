//! Token revocation at sign-out (RFC 7009).
//!
//! Best effort: the tokens are removed on this side even when it fails. The refresh token is revoked first,
//! because most servers revoke its access tokens along with it.

use std::time::SystemTime;

use mcparley_model::secret::Secret;

use crate::client::OAuthClient;
use crate::grant::{self, OAuthErrorCode, OAuthParameters, TokenEndpoint, TokenError, TokenRequestKeys};
use crate::jwt::SigningKey;
use crate::metadata::AuthServerMetadata;
use crate::tokens::Tokens;
use crate::web::Web;

/// The server and client whose tokens are revoked.
#[derive(Clone, Copy, Debug)]
pub struct RevocationRequest<'r> {
    /// The authorization server that issued them.
    pub server: &'r AuthServerMetadata,
    /// The client they were issued to.
    pub client: &'r OAuthClient,
    /// The key for `private_key_jwt`.
    pub signing: Option<&'r SigningKey>,
}

/// The outcome for both tokens.
#[derive(Debug)]
pub struct RevocationReport {
    /// The outcome for the refresh token.
    pub refresh: RevocationOutcome,
    /// The outcome for the access token.
    pub access: RevocationOutcome,
}

/// The outcome for one token.
#[derive(Debug)]
pub enum RevocationOutcome {
    /// The token is revoked.
    Done,
    /// There was no such token.
    Absent,
    /// The server cannot revoke such tokens; it expires by itself.
    Unsupported,
    /// The request failed, and the token may still be valid.
    Failed(TokenError),
}

impl RevocationReport {
    /// Whether one of them may still be valid.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let may_live = |outcome: &RevocationOutcome| match outcome {
            RevocationOutcome::Done | RevocationOutcome::Absent => false,
            RevocationOutcome::Unsupported | RevocationOutcome::Failed(_) => true,
        };
        may_live(&self.refresh) || may_live(&self.access)
    }
}

/// Revokes both `tokens`.
pub async fn revoke_tokens(
    web: &Web,
    revoking: &RevocationRequest<'_>,
    tokens: &Tokens,
    now: SystemTime,
) -> RevocationReport {
    let refresh = match &tokens.refresh {
        Some(token) => revoke_token(web, revoking, ("refresh_token", token), now).await,
        None => RevocationOutcome::Absent,
    };
    let access = revoke_token(web, revoking, ("access_token", &tokens.access), now).await;
    RevocationReport { refresh, access }
}

/// Revokes one token. A token that the server no longer knows counts as revoked (RFC 7009, 2.2).
async fn revoke_token(
    web: &Web,
    revoking: &RevocationRequest<'_>,
    (kind, token): (&'static str, &Secret<String>),
    now: SystemTime,
) -> RevocationOutcome {
    let RevocationRequest { server, client, signing } = *revoking;
    let Some(endpoint) = &server.revocation_endpoint else { return RevocationOutcome::Unsupported };
    let keys = TokenRequestKeys { signing, ..TokenRequestKeys::default() };
    let token_endpoint = TokenEndpoint { endpoint, server, client, keys: &keys };
    let pairs = OAuthParameters::default()
        .with_parameter("token", token.expose())
        .with_parameter("token_type_hint", kind);
    match grant::post_form(web, &token_endpoint, &pairs, now).await {
        Ok(_) => RevocationOutcome::Done,
        Err(error) if error.code() == Some(&OAuthErrorCode::UnsupportedToken) => {
            RevocationOutcome::Unsupported
        }
        Err(error) => RevocationOutcome::Failed(error),
    }
}
