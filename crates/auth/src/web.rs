//! HTTP requests of sign-in, to addresses that servers have named (guards against server-side request
//! forgery, SSRF).
//!
//! All requests of this crate go through here. `address_form` checks the form of an address, and `address_guard` the network
//! it is in. Behind a proxy the proxy resolves names, so that only numeric addresses can be checked; a
//! `socks4` or `socks5` proxy is given the address that was checked here.

mod address;
mod address_form;
mod address_guard;
mod error;
#[cfg(test)]
pub(crate) mod fake_web;
mod forbidden;
#[cfg(test)]
pub(crate) mod site;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcparley_model::limits::{OAUTH_BYTES, OAUTH_REDIRECTS, OAUTH_TIME};
use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::Network;
use reqwest::{Method, Response};
use url::Url;

pub(crate) use address_form::is_this_machine;
use address_guard::AddressGuard;
pub use error::WebError;
pub use forbidden::{Forbidden, ForbiddenReason};

/// The HTTP client for the sign-in to one server. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Web {
    /// The network, limited to the allowed addresses.
    network: Network,
    guard: AddressGuard,
    server: Url,
    /// The fake that answers all requests in tests without a network.
    #[cfg(test)]
    fake: Option<fake_web::FakeWeb>,
}

/// An HTTP response.
#[derive(Clone)]
pub struct WebResponse {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Bytes,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub enum WebBody<'b> {
    /// Form parameters.
    Form(&'b [(&'b str, Secret<String>)]),
    /// A JSON value.
    Json(&'b serde_json::Value),
}

impl Web {
    /// The client for the sign-in to `server`: addresses more private than the server's are refused.
    #[must_use]
    pub fn new(network: &Network, server: &Url) -> Self {
        let guard = AddressGuard::new(Arc::clone(network.resolver()))
            .with_trusted(server, !network.is_proxied(server));
        Self {
            network: network.with_resolver(Arc::new(guard.clone())),
            guard,
            server: server.clone(),
            #[cfg(test)]
            fake: None,
        }
    }

    /// Also allows addresses as private as `place`, which the user has configured.
    #[must_use]
    pub fn with_trusted_place(&self, place: &Url) -> Self {
        let watch = self.guard.with_trusted(place, !self.network.is_proxied(place));
        let network = self.network.with_resolver(Arc::new(watch.clone()));
        Self { network, guard: watch, ..self.clone() }
    }

    /// The server of the sign-in.
    #[must_use]
    pub fn server(&self) -> &Url {
        &self.server
    }

    /// Checks whether a request to the address is allowed, without resolving its name; the resolved addresses
    /// are checked when the request is sent.
    ///
    /// # Errors
    /// A [`WebError`] with the reason.
    pub async fn check_url(&self, url: &Url) -> Result<(), WebError> {
        address_form::check_url_form(url)?;
        // The reach of the server itself may have to be resolved.
        match url.host() {
            Some(host) => with_timeout(async { Ok(self.guard.check_host(&host).await?) }).await,
            None => Ok(()),
        }
    }

    /// Fetches a document, following redirects within its origin.
    ///
    /// # Errors
    /// A [`WebError`]. A response with an error status is a response.
    pub async fn fetch_document(&self, url: &Url) -> Result<WebResponse, WebError> {
        with_timeout(self.follow_redirects(url)).await
    }

    /// Sends a body, and follows no redirect.
    ///
    /// # Errors
    /// A [`WebError`]. A response with an error status is a response.
    pub async fn post_body(
        &self,
        url: &Url,
        body: WebBody<'_>,
        headers: &[(&str, Secret<String>)],
    ) -> Result<WebResponse, WebError> {
        #[cfg(test)]
        if let Some(stand_in) = &self.fake {
            return Ok(stand_in.answer_form(body).await);
        }
        with_timeout(async {
            WebResponse::from_response(self.send_request(Method::POST, url, Some(body), headers).await?).await
        })
        .await
    }

    async fn follow_redirects(&self, url: &Url) -> Result<WebResponse, WebError> {
        let mut place = url.clone();
        for _ in 0..=OAUTH_REDIRECTS {
            let response = self.send_request(Method::GET, &place, None, &[]).await?;
            match redirect_target(&response, &place)? {
                Some(next) => place = next,
                None => return WebResponse::from_response(response).await,
            }
        }
        Err(WebError::Redirects { limit: OAUTH_REDIRECTS })
    }

    async fn send_request(
        &self,
        method: Method,
        url: &Url,
        body: Option<WebBody<'_>>,
        headers: &[(&str, Secret<String>)],
    ) -> Result<Response, WebError> {
        self.check_url(url).await?;
        let client = self.network.client_for(url).await.map_err(WebError::Unreachable)?;
        let mut request = client.request(method, url.clone()).header("accept", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value.expose());
        }
        request = match body {
            None => request,
            Some(WebBody::Form(pairs)) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(pairs.iter().map(|(name, value)| (name, value.expose())));
                request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())
            }
            Some(WebBody::Json(value)) => {
                request.header("content-type", "application/json").body(value.to_string())
            }
        };
        request.send().await.map_err(|error| WebError::from_send_error(&error, url, &self.network))
    }
}

async fn with_timeout<T>(work: impl Future<Output = Result<T, WebError>>) -> Result<T, WebError> {
    tokio::time::timeout(OAUTH_TIME, work).await.unwrap_or(Err(WebError::TimedOut { after: OAUTH_TIME }))
}

/// The target of a redirect; it must be at the same origin, the only one that was checked.
fn redirect_target(response: &Response, from: &Url) -> Result<Option<Url>, WebError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get("location").and_then(|location| location.to_str().ok());
    let place = location.and_then(|location| from.join(location).ok());
    let mut place = place.ok_or(WebError::Moved { place: None })?;
    place.set_fragment(None);
    if place.origin() == from.origin() {
        Ok(Some(place))
    } else {
        Err(WebError::Moved { place: Some(address_form::scheme_and_host(&place)) })
    }
}

impl WebResponse {
    async fn from_response(mut response: Response) -> Result<Self, WebError> {
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into()))
            .collect();
        let mut body = BytesMut::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| WebError::from_broken_connection(&error))?
        {
            if body.len() + chunk.len() > OAUTH_BYTES {
                return Err(WebError::TooLarge { limit: OAUTH_BYTES });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Self { status, headers, body: body.freeze() })
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for WebResponse {
    /// Omits body and headers: they may hold tokens and codes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("status", &self.status).finish_non_exhaustive()
    }
}

impl fmt::Debug for WebBody<'_> {
    /// Prints only the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form(_) => "Form",
            Self::Json(_) => "Json",
        })
    }
}

/// The timeout of one request, for callers that plan several.
#[must_use]
pub fn request_timeout() -> Duration {
    OAUTH_TIME
}

#[cfg(test)]
mod tests;
