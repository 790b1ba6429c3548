//! Sends a form to an authorization server with client authentication, and checks the response for errors.

use std::time::SystemTime;

use mcparley_model::secret::Secret;
use url::Url;

use super::choice::alternative_method;
use super::credentials::authenticate_client;
use super::form::{OAuthParameter, OAuthParameters};
use super::{OAuthErrorCode, TokenError, TokenRequestKeys, refusal};
use crate::client::{ClientAuthMethod, OAuthClient};
use crate::dpop::{ProofReceiver, ProofRequest};
use crate::metadata::AuthServerMetadata;
use crate::web::{Web, WebBody, WebResponse};

/// The endpoint that a form is sent to, and the client that sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenEndpoint<'c> {
    /// The endpoint.
    pub(crate) endpoint: &'c Url,
    /// The server it belongs to.
    pub(crate) server: &'c AuthServerMetadata,
    /// Our client there.
    pub(crate) client: &'c OAuthClient,
    /// The keys that sign the request.
    pub(crate) keys: &'c TokenRequestKeys<'c>,
}

/// A successful response.
#[derive(Debug)]
pub(crate) struct AcceptedForm {
    pub(crate) page: WebResponse,
    /// The client authentication method that worked: the client's own, or the other one if the server refused
    /// that.
    pub(crate) proof: ClientAuthMethod,
}

/// Sends a form, and retries once with the other client authentication method if the server refuses the
/// first.
///
/// Metadata and registrations are often wrong about client authentication, and a server that refuses a client
/// has not used up its code or token.
pub(crate) async fn post_form(
    web: &Web,
    token_endpoint: &TokenEndpoint<'_>,
    pairs: &OAuthParameters,
    now: SystemTime,
) -> Result<AcceptedForm, TokenError> {
    let client = token_endpoint.client;
    let refused = match post_with_nonce(web, token_endpoint, pairs, now).await {
        Ok(page) => return Ok(AcceptedForm { page, proof: client.proof }),
        Err(error) => error,
    };
    let Some(proof) = alternative_method(client).filter(|_| refused.is_client_auth_failure()) else {
        return Err(refused);
    };
    let other = OAuthClient { proof, ..client.clone() };
    let token_endpoint = TokenEndpoint { client: &other, ..*token_endpoint };
    match post_with_nonce(web, &token_endpoint, pairs, now).await {
        Ok(page) => Ok(AcceptedForm { page, proof }),
        // The client is refused with both methods: the first error is about the method it should have used.
        Err(error) if error.is_client_auth_failure() => Err(refused),
        Err(error) => Err(error),
    }
}

/// Sends a form, and retries once if the server wants a nonce in the proof of possession and has sent one.
async fn post_with_nonce(
    web: &Web,
    token_endpoint: &TokenEndpoint<'_>,
    pairs: &OAuthParameters,
    now: SystemTime,
) -> Result<WebResponse, TokenError> {
    let (page, sent) = send_form(web, token_endpoint, pairs, now).await?;
    let nonce = store_nonce(token_endpoint, &page);
    match refusal::check_response(&page, &sent) {
        Err(TokenError::Refused(refused)) if nonce && refused.code == OAuthErrorCode::UseDpopNonce => {
            let (page, sent) = send_form(web, token_endpoint, pairs, now).await?;
            store_nonce(token_endpoint, &page);
            refusal::check_response(&page, &sent).map(|()| page)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(page),
    }
}

/// Sends a form; returns the response and all parameters that were sent.
async fn send_form(
    web: &Web,
    token_endpoint: &TokenEndpoint<'_>,
    pairs: &OAuthParameters,
    now: SystemTime,
) -> Result<(WebResponse, Vec<OAuthParameter>), TokenError> {
    let TokenEndpoint { endpoint, server, client, keys } = token_endpoint;
    let shown = authenticate_client(client, server, keys.signing, now).map_err(TokenError::Proof)?;
    let mut form = pairs.as_slice().to_vec();
    form.extend(shown.pairs);
    let mut headers = Vec::new();
    if let Some(header) = shown.header {
        headers.push(("authorization", header));
    }
    if let Some(prover) = keys.possession.prover() {
        let proving = ProofRequest { method: "POST", url: endpoint, token: None };
        let proof = prover.create_proof(&proving, now).map_err(|error| TokenError::Proof(error.into()))?;
        headers.push(("dpop", proof));
    }
    let page = web.post_body(endpoint, WebBody::Form(&form), &headers).await.map_err(TokenError::Web)?;
    form.extend(headers);
    form.extend(client.secret.iter().map(|secret| ("client_secret", Secret::clone(secret))));
    Ok((page, form))
}

/// Stores the nonce of a response, successful or not (RFC 9449, 8.2); returns whether there was one.
fn store_nonce(token_endpoint: &TokenEndpoint<'_>, page: &WebResponse) -> bool {
    let (Some(prover), Some(nonce)) = (token_endpoint.keys.possession.prover(), page.header("dpop-nonce"))
    else {
        return false;
    };
    prover.remember_nonce(ProofReceiver::Issuer, token_endpoint.endpoint, nonce)
}
