//! The web, as far as sign-in may reach into it: addresses that others have named.
//!
//! Nothing in this room makes a request another way.

mod error;
mod rule;
#[cfg(test)]
pub(crate) mod site;

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcparley_model::limits::{OAUTH_BYTES, OAUTH_TIME};
use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::Network;
use reqwest::Method;
use url::Url;

pub use error::WebError;
pub use rule::{PageError, check_page};

/// The web as one server's sign-in sees it.
#[derive(Clone, Debug)]
pub struct Web {
    network: Network,
    server: Url,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Bytes,
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub enum Body<'b> {
    /// Pairs, as forms of web pages send them.
    Form(&'b [(&'b str, Secret<String>)]),
    /// A JSON value.
    Json(&'b serde_json::Value),
}

impl Web {
    /// The web for the sign-in to `server`.
    #[must_use]
    pub fn new(network: &Network, server: &Url) -> Self {
        Self { network: network.clone(), server: server.clone() }
    }

    /// The server that is signed in to.
    #[must_use]
    pub fn server(&self) -> &Url {
        &self.server
    }

    /// Whether the address may be asked, as far as that can be told without asking anybody.
    ///
    /// # Errors
    /// A [`WebError`] that says why not.
    pub fn check(&self, url: &Url) -> Result<(), WebError> {
        rule::check(url)
    }

    /// Fetches what others have published there.
    ///
    /// # Errors
    /// A [`WebError`]. An answer whose status says no is an answer.
    pub async fn get(&self, url: &Url) -> Result<Page, WebError> {
        self.send(Method::GET, url, None, &[]).await
    }

    /// Sends something there, and follows no redirect.
    ///
    /// # Errors
    /// A [`WebError`]. An answer whose status says no is an answer.
    pub async fn post(
        &self,
        url: &Url,
        body: Body<'_>,
        headers: &[(&str, Secret<String>)],
    ) -> Result<Page, WebError> {
        self.send(Method::POST, url, Some(body), headers).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Option<Body<'_>>,
        headers: &[(&str, Secret<String>)],
    ) -> Result<Page, WebError> {
        let work = self.exchange(method, url, body, headers);
        tokio::time::timeout(OAUTH_TIME, work).await.unwrap_or(Err(WebError::Late { after: OAUTH_TIME }))
    }

    async fn exchange(
        &self,
        method: Method,
        url: &Url,
        body: Option<Body<'_>>,
        headers: &[(&str, Secret<String>)],
    ) -> Result<Page, WebError> {
        self.check(url)?;
        let client = self.network.client(url).await.map_err(WebError::Unreachable)?;
        let mut request = client.request(method, url.clone()).header("accept", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value.expose());
        }
        request = match body {
            None => request,
            Some(Body::Form(pairs)) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(pairs.iter().map(|(name, value)| (name, value.expose())));
                request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())
            }
            Some(Body::Json(value)) => {
                request.header("content-type", "application/json").body(value.to_string())
            }
        };
        let mut response = request.send().await.map_err(|error| WebError::broken(&error))?;
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into()))
            .collect();
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| WebError::broken(&error))? {
            if body.len() + chunk.len() > OAUTH_BYTES {
                return Err(WebError::TooLarge { limit: OAUTH_BYTES });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Page { status, headers, body: body.freeze() })
    }
}

impl Page {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// How long a request may take, for whoever plans several.
#[must_use]
pub fn limit() -> Duration {
    OAUTH_TIME
}
