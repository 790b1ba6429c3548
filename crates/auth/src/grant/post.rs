//! Sends one form to an authorization server, with what proves who we are, and sees whether the answer says yes.

use std::time::SystemTime;

use mcparley_model::secret::Secret;
use url::Url;

use super::credentials::shown;
use super::form::{Pair, Pairs};
use super::{ErrorCode, Keys, TokenError, refusal};
use crate::client::Client;
use crate::dpop::{Party, Proving};
use crate::metadata::Server;
use crate::web::{Body, Page, Web};

/// Where a form is handed in, and by whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter<'c> {
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
///
/// When the server wants a nonce in the proof of possession and has given one, the request is repeated with it, once.
pub(crate) async fn post(
    web: &Web,
    counter: &Counter<'_>,
    pairs: &Pairs,
    now: SystemTime,
) -> Result<Page, TokenError> {
    let (page, sent) = send(web, counter, pairs, now).await?;
    let nonce = remember(counter, &page);
    match refusal::judge(&page, &sent) {
        Err(TokenError::Refused(refused)) if nonce && refused.code == ErrorCode::UseDpopNonce => {
            let (page, sent) = send(web, counter, pairs, now).await?;
            remember(counter, &page);
            refusal::judge(&page, &sent).map(|()| page)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(page),
    }
}

/// The answer, and everything that was shown for it.
async fn send(
    web: &Web,
    counter: &Counter<'_>,
    pairs: &Pairs,
    now: SystemTime,
) -> Result<(Page, Vec<Pair>), TokenError> {
    let Counter { endpoint, server, client, keys } = counter;
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
fn remember(counter: &Counter<'_>, page: &Page) -> bool {
    let (Some(prover), Some(nonce)) = (counter.keys.possession.prover(), page.header("dpop-nonce")) else {
        return false;
    };
    prover.remember(Party::Issuer, counter.endpoint, nonce)
}
