//! The one way to ask an authorization server for tokens: every grant goes through [`ask`].
//!
//! What is sent is built in `form` and `credentials`, how the answer is read is decided in `answer`, and what a refusal
//! means in `refusal`. Whether a grant is tried at all, and what follows a refusal, is not decided here: a request is
//! sent once, and again only when the server wants a nonce in the proof of possession (RFC 9449, 8) or does not accept
//! the way in which the client showed its secret.

mod answer;
mod choice;
mod credentials;
mod error;
mod form;
mod post;
mod refusal;

#[cfg(test)]
pub(crate) mod tests;

use std::time::SystemTime;

use mcparley_model::secret::Secret;
use url::Url;

pub use answer::AnswerError;
pub use choice::{Held, choose};
pub use credentials::ProofError;
pub use error::TokenError;
pub use refusal::{ErrorCode, Refusal};

pub(crate) use answer::{access, object, scopes_in, text};
pub(crate) use form::Pairs;
pub(crate) use post::{Accepted, TokenEndpoint, post};
pub(crate) use refusal::judge;

use crate::client::{Client, Proof};
use crate::dpop::Possession;
use crate::jwt::SigningKey;
use crate::metadata::Server;
use crate::tokens::Tokens;
use crate::web::Web;

/// A request for tokens.
#[derive(Clone, Copy, Debug)]
pub struct TokenRequest<'r> {
    /// Who is asked.
    pub server: &'r Server,
    /// Who asks.
    pub client: &'r Client,
    /// What is shown.
    pub grant: Grant<'r>,
    /// What the token is to open, byte for byte as it names itself (RFC 8707).
    pub resource: Option<&'r str>,
    /// What it is to be good for. Sent where the grant does not settle it already, which a code, a device and a refresh
    /// token do; taken for granted where the answer does not say.
    pub scopes: &'r [String],
}

/// What is shown for a token.
#[derive(Clone, Copy, Debug)]
pub enum Grant<'r> {
    /// The consent of a person, brought back by the browser (RFC 6749, 4.1; RFC 7636).
    Code {
        /// What the browser brought.
        code: &'r Secret<String>,
        /// What proves that we sent it out.
        verifier: &'r Secret<String>,
        /// Where it came back to.
        redirect: &'r Url,
    },
    /// What came with an earlier token (RFC 6749, 6).
    Refresh {
        /// It.
        token: &'r Secret<String>,
    },
    /// Only who we are (RFC 6749, 4.4).
    ClientCredentials,
    /// The consent of a person on another device (RFC 8628).
    Device {
        /// What stands for it.
        code: &'r Secret<String>,
    },
    /// What somebody the server trusts has signed (RFC 7523, 2.1): an ID-JAG, or who a workload is.
    JwtBearer {
        /// It.
        assertion: &'r Secret<String>,
    },
}

/// The keys a request is signed with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys<'k> {
    /// For `private_key_jwt`.
    pub signing: Option<&'k SigningKey>,
    /// What the token is bound to.
    pub possession: Possession<'k>,
}

/// What was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The tokens.
    pub tokens: Tokens,
    /// Who signed in, where the server is an identity provider.
    pub id_token: Option<Secret<String>>,
    /// How the client proved itself, which is how it does so from now on.
    pub proof: Proof,
}

/// Asks for tokens.
///
/// # Errors
/// A [`TokenError`]; its questions say what follows from it.
pub async fn ask(
    web: &Web,
    request: &TokenRequest<'_>,
    keys: &Keys<'_>,
    now: SystemTime,
) -> Result<Granted, TokenError> {
    let token_endpoint = TokenEndpoint {
        endpoint: &request.server.token_endpoint,
        server: request.server,
        client: request.client,
        keys,
    };
    let Accepted { page, proof } = post(web, &token_endpoint, &form::pairs(request), now).await?;
    let granted = Granted { proof, ..answer::granted(&object(&page)?, request, now)? };
    keys.possession.check(granted.tokens.kind)?;
    Ok(granted)
}
