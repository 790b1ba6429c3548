//! Gives tokens back when a person signs out (RFC 7009).
//!
//! As well as it goes: whatever comes of it, the tokens are forgotten on this side. The refresh token goes first, because
//! most servers take everything that came of it along.

use std::time::SystemTime;

use mcparley_model::secret::Secret;

use crate::client::Client;
use crate::grant::{self, ErrorCode, Keys, Pairs, TokenEndpoint, TokenError};
use crate::jwt::SigningKey;
use crate::metadata::Server;
use crate::tokens::Tokens;
use crate::web::Web;

/// Whose tokens are given back, and to whom.
#[derive(Clone, Copy, Debug)]
pub struct Revoking<'r> {
    /// Who gave them.
    pub server: &'r Server,
    /// Whom it gave them to.
    pub client: &'r Client,
    /// For `private_key_jwt`.
    pub signing: Option<&'r SigningKey>,
}

/// What became of both tokens.
#[derive(Debug)]
pub struct Revoked {
    /// Of the refresh token.
    pub refresh: Outcome,
    /// Of the access token.
    pub access: Outcome,
}

/// What became of one.
#[derive(Debug)]
pub enum Outcome {
    /// It is good for nothing any more.
    Done,
    /// There was none.
    Absent,
    /// The server takes no such token back; it ends by itself.
    Unsupported,
    /// It may still be good.
    Failed(TokenError),
}

impl Revoked {
    /// Whether one of them may still be good.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let may_live = |outcome: &Outcome| match outcome {
            Outcome::Done | Outcome::Absent => false,
            Outcome::Unsupported | Outcome::Failed(_) => true,
        };
        may_live(&self.refresh) || may_live(&self.access)
    }
}

/// Gives `tokens` back.
pub async fn revoke(web: &Web, revoking: &Revoking<'_>, tokens: &Tokens, now: SystemTime) -> Revoked {
    let refresh = match &tokens.refresh {
        Some(token) => one(web, revoking, ("refresh_token", token), now).await,
        None => Outcome::Absent,
    };
    let access = one(web, revoking, ("access_token", &tokens.access), now).await;
    Revoked { refresh, access }
}

/// A token that the server no longer knows is answered like one it has just taken back (RFC 7009, 2.2).
async fn one(
    web: &Web,
    revoking: &Revoking<'_>,
    (kind, token): (&'static str, &Secret<String>),
    now: SystemTime,
) -> Outcome {
    let Revoking { server, client, signing } = *revoking;
    let Some(endpoint) = &server.revocation_endpoint else { return Outcome::Unsupported };
    let keys = Keys { signing, ..Keys::default() };
    let token_endpoint = TokenEndpoint { endpoint, server, client, keys: &keys };
    let pairs = Pairs::default().with("token", token.expose()).with("token_type_hint", kind);
    match grant::post(web, &token_endpoint, &pairs, now).await {
        Ok(_) => Outcome::Done,
        Err(error) if error.code() == Some(&ErrorCode::UnsupportedToken) => Outcome::Unsupported,
        Err(error) => Outcome::Failed(error),
    }
}
