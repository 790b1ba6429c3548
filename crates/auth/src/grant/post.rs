//! Sends one form to an authorization server, with what proves who we are, and sees whether the answer says yes.

use std::time::SystemTime;

use mcparley_model::secret::Secret;
use url::Url;

use super::choice::other_proof;
use super::credentials::shown;
use super::form::{Pair, Pairs};
use super::{ErrorCode, Keys, TokenError, refusal};
use crate::client::{Client, Proof};
use crate::dpop::{Party, Proving};
use crate::metadata::Server;
use crate::web::{Body, Page, Web};

/// The endpoint that a form is sent to, and the client that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenEndpoint<'c> {
    /// The endpoint.
    pub(crate) endpoint: &'c Url,
    /// Whose it is.
    pub(crate) server: &'c Server,
    /// Who we are to it.
    pub(crate) client: &'c Client,
    /// What we sign with.
    pub(crate) keys: &'c Keys<'c>,
}

/// An answer that says yes.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) page: Page,
    /// How the client proved itself: the client's own way, or the other one when the server refused that.
    pub(crate) proof: Proof,
}

/// Sends a form, and once more with the secret shown in the other way when the server does not accept the first one.
///
/// Metadata and registrations are often wrong about client authentication, and a server that refuses a client has not
/// looked at the code or token it was shown.
pub(crate) async fn post(
    web: &Web,
    token_endpoint: &TokenEndpoint<'_>,
    pairs: &Pairs,
    now: SystemTime,
) -> Result<Accepted, TokenError> {
    let client = token_endpoint.client;
    let refused = match post_with_nonce(web, token_endpoint, pairs, now).await {
        Ok(page) => return Ok(Accepted { page, proof: client.proof }),
        Err(error) => error,
    };
    let Some(proof) = other_proof(client).filter(|_| refused.is_client_authentication()) else {
        return Err(refused);
    };
    let other = Client { proof, ..client.clone() };
    let token_endpoint = TokenEndpoint { client: &other, ..*token_endpoint };
    match post_with_nonce(web, &token_endpoint, pairs, now).await {
        Ok(page) => Ok(Accepted { page, proof }),
        // The client is as unknown in both ways: what was said first is about the way it should have used.
        Err(error) if error.is_client_authentication() => Err(refused),
        Err(error) => Err(error),
    }
}

/// Sends a form, and once more when the server wants a nonce in the proof of possession and has given one.
async fn post_with_nonce(
    web: &Web,
    token_endpoint: &TokenEndpoint<'_>,
    pairs: &Pairs,
    now: SystemTime,
) -> Result<Page, TokenError> {
    let (page, sent) = send(web, token_endpoint, pairs, now).await?;
    let nonce = remember(token_endpoint, &page);
    match refusal::judge(&page, &sent) {
        Err(TokenError::Refused(refused)) if nonce && refused.code == ErrorCode::UseDpopNonce => {
            let (page, sent) = send(web, token_endpoint, pairs, now).await?;
            remember(token_endpoint, &page);
            refusal::judge(&page, &sent).map(|()| page)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(page),
    }
}

/// The answer, and everything that was shown for it.
async fn send(
    web: &Web,
    token_endpoint: &TokenEndpoint<'_>,
    pairs: &Pairs,
    now: SystemTime,
) -> Result<(Page, Vec<Pair>), TokenError> {
    let TokenEndpoint { endpoint, server, client, keys } = token_endpoint;
    let shown = shown(client, server, keys.signing, now).map_err(TokenError::Proof)?;
    let mut form = pairs.as_slice().to_vec();
    form.extend(shown.pairs);
    let mut headers = Vec::new();
    if let Some(header) = shown.header {
        headers.push(("authorization", header));
    }
    if let Some(prover) = keys.possession.prover() {
        let proving = Proving { method: "POST", url: endpoint, token: None };
        let proof = prover.proof(&proving, now).map_err(|error| TokenError::Proof(error.into()))?;
        headers.push(("dpop", proof));
    }
    let page = web.post(endpoint, Body::Form(&form), &headers).await.map_err(TokenError::Web)?;
    form.extend(headers);
    form.extend(client.secret.iter().map(|secret| ("client_secret", Secret::clone(secret))));
    Ok((page, form))
}

/// Keeps the nonce of an answer, whether it says yes or no (RFC 9449, 8.2); whether there was one.
fn remember(token_endpoint: &TokenEndpoint<'_>, page: &Page) -> bool {
    let (Some(prover), Some(nonce)) = (token_endpoint.keys.possession.prover(), page.header("dpop-nonce"))
    else {
        return false;
    };
    prover.remember(Party::Issuer, token_endpoint.endpoint, nonce)
}
