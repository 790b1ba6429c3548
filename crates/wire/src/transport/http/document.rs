//! Fetches one small JSON document, for what is asked over HTTP and is no conversation.

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderValue};

use super::body::{self, Kind};
use super::http_sender::HttpSender;
use super::refusal::Refusal;
use super::{HttpTarget, Network};
use crate::failure::Failure;

/// The document behind the target's URL, if it has at most `limit` bytes. How long its body may take is for the
/// caller to say.
///
/// # Errors
/// A [`Failure`]; [`Failure::Unauthorized`] when the target's authorizer cannot get us in.
pub async fn document(target: &HttpTarget, network: &Network, limit: usize) -> Result<Bytes, Failure> {
    let http_sender = HttpSender::new(target, network, |_| false)?;
    let mut headers = http_sender.headers();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let sent = http_sender.send(Method::GET, &target.url, headers, Bytes::new(), Some(REQUEST_LIMIT));
    let response = sent.await?;
    if !response.status().is_success() {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = body::beginning(response).await;
        return Err(Refusal { status, headers: &headers, body, call: None, session: None }.meaning());
    }
    if Kind::of(&response) != Kind::Json {
        let text = body::excerpt(&body::beginning(response).await);
        return Err(Failure::Protocol(format!("its answer is no JSON: {text}").into()));
    }
    body::bounded(response, limit).await
}
