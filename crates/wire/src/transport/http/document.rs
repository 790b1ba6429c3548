//! Fetches one small JSON document over HTTP, outside of any session.

use bytes::Bytes;
use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderValue};

use super::body::{self, Kind};
use super::http_sender::HttpSender;
use super::refusal::HttpRefusal;
use super::{HttpTarget, Network};
use crate::failure::Failure;

/// Fetches the document at the target's URL, if it has at most `limit` bytes. A timeout for its body is up to
/// the caller.
///
/// # Errors
/// A [`Failure`]; [`Failure::Unauthorized`] when the target's authorizer has no valid credentials.
pub async fn fetch_document(target: &HttpTarget, network: &Network, limit: usize) -> Result<Bytes, Failure> {
    let http_sender = HttpSender::new(target, network, |_| false)?;
    let mut headers = http_sender.base_headers();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let sent = http_sender.send_request(Method::GET, &target.url, headers, Bytes::new(), Some(REQUEST_LIMIT));
    let response = sent.await?;
    if !response.status().is_success() {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = body::read_beginning(response).await;
        return Err(HttpRefusal { status, headers: &headers, body, call: None, session: None }.to_failure());
    }
    if Kind::from_response(&response) != Kind::Json {
        let text = body::body_excerpt(&body::read_beginning(response).await);
        return Err(Failure::Protocol(format!("its response is not JSON: {text}").into()));
    }
    body::read_bounded(response, limit).await
}
