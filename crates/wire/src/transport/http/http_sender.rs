//! Sends HTTP requests to one server: over at most one redirect, and a second time when the server refuses a request and
//! the authorizer can do something about it.
//!
//! No header of ours reaches another origin.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcparley_model::text::Untrusted;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode};
use url::Url;

use super::network::Network;
use super::{HttpTarget, body, redirect, refusal, target, trouble, tunnel};
use crate::authorizer::{Asking, Authorizer, Challenge, Credentials, Next, Wants};
use crate::failure::{Failure, Phase};
use crate::task::Tasks;

/// Where a server puts what the proof of the next request must repeat.
const NONCE: &str = "dpop-nonce";

/// How often an authorizer is asked about one request.
const MOST_ASKED: usize = 2;

/// What is to become of a request that was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The answer stands.
    Final,
    /// It is made once more.
    Once,
    /// The same, and should it be refused again, that is asked about too.
    Perhaps,
}

/// Sends requests to one server.
pub(in crate::transport) struct HttpSender {
    network: Network,
    headers: HeaderMap,
    /// The work of tunnels, for whoever wants one through every proxy.
    tunnels: Option<Tasks>,
    authorizer: Arc<dyn Authorizer>,
}

impl HttpSender {
    /// Whatever the configuration says about headers that are ours is left out.
    pub(in crate::transport) fn new(
        target: &HttpTarget,
        network: &Network,
        is_ours: impl Fn(&HeaderName) -> bool,
    ) -> Result<Self, Failure> {
        let mut headers = HeaderMap::new();
        for (name, value) in target.check()? {
            if !is_ours(&name) {
                headers.append(name, value);
            }
        }
        let authorizer = Arc::clone(&target.authorizer);
        Ok(Self { network: network.clone(), headers, tunnels: None, authorizer })
    }

    /// The same, through a tunnel whatever the proxy: what is not a request and its answer passes no other way.
    /// Tunnels end with the http_sender, unless the connection has been taken over.
    pub(in crate::transport) fn through_tunnels(mut self) -> Self {
        self.tunnels = Some(Tasks::default());
        self
    }

    /// The headers of every request.
    pub(in crate::transport) fn headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers
    }

    /// Makes a request. The limit is for connecting and the head of the answer.
    pub(in crate::transport) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        limit: Option<Duration>,
    ) -> Result<Response, Failure> {
        let work = async {
            let (mut response, mut sent) = self.travel(&method, url, &headers, &body).await?;
            for _ in 0..MOST_ASKED {
                let next = self.verdict(&response, &sent).await?;
                if next == Verdict::Final {
                    break;
                }
                // Reading the little there may be lets the connection be used again.
                body::beginning(response).await;
                (response, sent) = self.travel(&method, url, &headers, &body).await?;
                if next == Verdict::Once {
                    break;
                }
            }
            Ok(response)
        };
        let Some(limit) = limit else { return work.await };
        let late = Failure::TimedOut { phase: Phase::Answering, after: limit };
        tokio::time::timeout(limit, work).await.unwrap_or(Err(late))
    }

    /// Makes a request, where it is sent to or where a redirect leads, and says what let it in there.
    async fn travel(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(Response, Credentials), Failure> {
        let (first, sent) = self.once(method, url, headers, body).await?;
        let location = first.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let place = match first.status().is_redirection() {
            true => redirect::place(url, first.status(), location)?,
            false => return Ok((first, sent)),
        };
        let (second, sent) = self.once(method, &place, headers, body).await?;
        match second.status().is_redirection() {
            true => Err(Failure::Protocol("it redirects more than once".into())),
            false => Ok((second, sent)),
        }
    }

    /// Whether something is gained by making the same request again.
    async fn verdict(&self, response: &Response, sent: &Credentials) -> Result<Verdict, Failure> {
        if let Some(nonce) = response.headers().get(NONCE).and_then(|nonce| nonce.to_str().ok()) {
            self.authorizer.noted(&Untrusted::new(nonce));
        }
        let wants = match response.status() {
            StatusCode::UNAUTHORIZED => Wants::SignIn,
            StatusCode::FORBIDDEN => Wants::MoreRights,
            _ => return Ok(Verdict::Final),
        };
        let challenge = Challenge { wants, words: refusal::challenge(response.headers()) };
        match self.authorizer.refused(sent, &challenge).await {
            Next::Again => Ok(Verdict::Once),
            Next::Try => Ok(Verdict::Perhaps),
            Next::GiveUp => Ok(Verdict::Final),
            Next::Fail(failure) => Err(failure),
        }
    }

    async fn once(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(Response, Credentials), Failure> {
        let sent = self.authorizer.headers(Asking { method: method.as_str(), url }).await?;
        let mut headers = headers.clone();
        for (name, value) in &sent.headers {
            let (name, value) = target::header(name, value)?;
            headers.insert(name, value);
        }
        let proxy = self.network.proxy(url)?;
        let client = self.network.client(url).await?;
        let request = client.request(method.clone(), url.clone()).headers(headers);
        let request = if body.is_empty() { request } else { request.body(body.clone()) };
        let response = match (&self.tunnels, proxy) {
            (Some(tunnels), Some(proxy)) if tunnel::is_needed(url, proxy) => {
                let request = request.build().map_err(|error| trouble::unanswered(&error, Some(proxy)))?;
                let response = tunnel::send(proxy, request, tunnels).await?;
                return Ok((response, sent));
            }
            (Some(_) | None, _) => {
                request.send().await.map_err(|error| trouble::unanswered(&error, proxy))?
            }
        };
        match proxy {
            // Only a proxy says that; without one it is a status like any other.
            Some(proxy) if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                Err(trouble::no_pass(proxy))
            }
            Some(_) | None => Ok((response, sent)),
        }
    }
}
