//! Sends HTTP requests to one server: follows at most one redirect, and retries a refused request when the
//! authorizer has new credentials.
//!
//! No header of ours is sent to another origin.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcparley_model::text::Untrusted;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode};
use url::Url;

use super::network::Network;
use super::{HttpTarget, body, http_error, redirect, refusal, target, tunnel};
use crate::authorizer::{Authorizer, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision};
use crate::failure::{Failure, FailurePhase};
use crate::gateway_path;
use crate::task::OwnedTasks;

/// Header of the DPoP nonce that the proof of the next request must repeat.
const NONCE: &str = "dpop-nonce";

/// Limit of authorizer calls per refused request.
const MOST_ASKED: usize = 2;

/// The decision on resending a request that was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResendDecision {
    /// The response is final.
    Final,
    /// The request is retried once.
    RetryOnce,
    /// The request is retried, and should it be refused again, the authorizer is asked again.
    RetryAndAsk,
}

/// Sender of requests to one server.
pub(in crate::transport) struct HttpSender {
    network: Network,
    headers: HeaderMap,
    /// The tasks of tunnels, if every request has to go through one.
    tunnels: Option<OwnedTasks>,
    authorizer: Arc<dyn Authorizer>,
}

impl HttpSender {
    /// Creates a sender. Configured headers that the protocol reserves are left out.
    pub(in crate::transport) fn new(
        target: &HttpTarget,
        network: &Network,
        is_ours: impl Fn(&HeaderName) -> bool,
    ) -> Result<Self, Failure> {
        let mut headers = HeaderMap::new();
        for (name, value) in target.check_headers()? {
            if !is_ours(&name) {
                headers.append(name, value);
            }
        }
        let authorizer = Arc::clone(&target.authorizer);
        Ok(Self { network: network.clone(), headers, tunnels: None, authorizer })
    }

    /// Sends every request through a tunnel if there is a proxy: a proxy forwards only plain requests and
    /// responses otherwise. Tunnels end with the sender, unless the connection has been upgraded.
    pub(in crate::transport) fn with_tunnels(mut self) -> Self {
        self.tunnels = Some(OwnedTasks::default());
        self
    }

    /// The headers of every request.
    pub(in crate::transport) fn base_headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(path) = gateway_path::outbound_path() {
            headers.insert(gateway_path::GATEWAY_PATH, path);
        }
        headers
    }

    /// Sends a request. The timeout covers connecting and the head of the response.
    pub(in crate::transport) async fn send_request(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        limit: Option<Duration>,
    ) -> Result<Response, Failure> {
        let work = async {
            let (mut response, mut sent) = self.send_with_redirect(&method, url, &headers, &body).await?;
            for _ in 0..MOST_ASKED {
                let next = self.decide_resend(&response, &sent).await?;
                if next == ResendDecision::Final {
                    break;
                }
                // Reading the short body lets the connection be reused.
                body::read_beginning(response).await;
                (response, sent) = self.send_with_redirect(&method, url, &headers, &body).await?;
                if next == ResendDecision::RetryOnce {
                    break;
                }
            }
            Ok(response)
        };
        let Some(limit) = limit else { return work.await };
        let late = Failure::TimedOut { phase: FailurePhase::Answering, after: limit };
        tokio::time::timeout(limit, work).await.unwrap_or(Err(late))
    }

    /// Sends a request, follows a redirect, and returns the credentials that were used.
    async fn send_with_redirect(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(Response, Credentials), Failure> {
        let (first, sent) = self.send_once(method, url, headers, body).await?;
        let location = first.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let place = if first.status().is_redirection() {
            redirect::redirect_target(url, first.status(), location)?
        } else {
            return Ok((first, sent));
        };
        let (second, sent) = self.send_once(method, &place, headers, body).await?;
        if second.status().is_redirection() {
            Err(Failure::Protocol("it redirects more than once".into()))
        } else {
            Ok((second, sent))
        }
    }

    /// Decides whether resending the same request may succeed.
    async fn decide_resend(
        &self,
        response: &Response,
        sent: &Credentials,
    ) -> Result<ResendDecision, Failure> {
        if let Some(nonce) = response.headers().get(NONCE).and_then(|nonce| nonce.to_str().ok()) {
            self.authorizer.store_nonce(&Untrusted::new(nonce));
        }
        let wants = match response.status() {
            StatusCode::UNAUTHORIZED => ChallengeKind::SignIn,
            StatusCode::FORBIDDEN => ChallengeKind::MoreRights,
            _ => return Ok(ResendDecision::Final),
        };
        let challenge =
            Challenge { kind: wants, www_authenticate: refusal::read_challenge(response.headers()) };
        match self.authorizer.handle_refusal(sent, &challenge).await {
            RetryDecision::Retry => Ok(ResendDecision::RetryOnce),
            RetryDecision::RetryUnverified => Ok(ResendDecision::RetryAndAsk),
            RetryDecision::GiveUp => Ok(ResendDecision::Final),
            RetryDecision::Fail(failure) => Err(failure),
        }
    }

    async fn send_once(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(Response, Credentials), Failure> {
        let sent = self.authorizer.authorize_request(RequestTarget { method: method.as_str(), url }).await?;
        let mut headers = headers.clone();
        for (name, value) in &sent.headers {
            let (name, value) = target::parse_header(name, value)?;
            headers.insert(name, value);
        }
        let proxy = self.network.proxy_for(url)?;
        let client = self.network.client_for(url).await?;
        let request = client.request(method.clone(), url.clone()).headers(headers);
        let request = if body.is_empty() { request } else { request.body(body.clone()) };
        let response = match (&self.tunnels, proxy) {
            (Some(tunnels), Some(proxy)) if tunnel::is_needed(url, proxy) => {
                let request = request
                    .build()
                    .map_err(|error| http_error::classify_request_error(&error, Some(proxy)))?;
                let response = tunnel::send_through_tunnel(proxy, request, tunnels).await?;
                return Ok((response, sent));
            }
            (Some(_) | None, _) => {
                request.send().await.map_err(|error| http_error::classify_request_error(&error, proxy))?
            }
        };
        match proxy {
            // Only a proxy returns this status; without one it is a status like any other.
            Some(proxy) if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                Err(http_error::proxy_sign_in_failure(proxy))
            }
            Some(_) | None => Ok((response, sent)),
        }
    }
}
