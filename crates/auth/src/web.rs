//! The web, as far as sign-in may reach into it: addresses that others have named (H15).
//!
//! Nothing in this room makes a request another way. Which addresses are asked is decided in `rule` by their looks,
//! and in `watch` by where they are. Behind a proxy it is the proxy that looks names up, so that of what is behind it only
//! addresses written as numbers can be judged; a `socks4` or `socks5` proxy is given the address that was judged here.

mod address;
mod error;
mod forbidden;
mod rule;
#[cfg(test)]
pub(crate) mod site;
#[cfg(test)]
pub(crate) mod stand_in;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcparley_model::limits::{OAUTH_BYTES, OAUTH_REDIRECTS, OAUTH_TIME};
use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::Network;
use reqwest::{Method, Response};
use url::Url;

pub use error::WebError;
pub use forbidden::{Forbidden, Reason};
pub(crate) use rule::is_here;
use watch::Watch;

/// The web as one server's sign-in sees it. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct Web {
    /// The way to all that is allowed, and to nothing else.
    network: Network,
    watch: Watch,
    server: Url,
    /// Who answers in the place of everybody, where there is no network.
    #[cfg(test)]
    stand_in: Option<stand_in::StandIn>,
}

/// What came back.
#[derive(Clone)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Bytes,
}

/// What is sent.
#[derive(Clone, Copy)]
pub enum Body<'b> {
    /// Pairs, as forms of web pages send them.
    Form(&'b [(&'b str, Secret<String>)]),
    /// A JSON value.
    Json(&'b serde_json::Value),
}

impl Web {
    /// The web for the sign-in to `server`: nothing that is nearer to us than the server itself.
    #[must_use]
    pub fn new(network: &Network, server: &Url) -> Self {
        let watch = Watch::new(Arc::clone(network.names())).with(server, !network.is_proxied(server));
        Self {
            network: network.with_names(Arc::new(watch.clone())),
            watch,
            server: server.clone(),
            #[cfg(test)]
            stand_in: None,
        }
    }

    /// The same web, and also what is no nearer than `place`, which the user himself has configured.
    #[must_use]
    pub fn trusting(&self, place: &Url) -> Self {
        let watch = self.watch.with(place, !self.network.is_proxied(place));
        let network = self.network.with_names(Arc::new(watch.clone()));
        Self { network, watch, ..self.clone() }
    }

    /// The server that is signed in to.
    #[must_use]
    pub fn server(&self) -> &Url {
        &self.server
    }

    /// Whether the address may be asked, as far as that can be told without looking its name up; the rest is told when it is
    /// asked.
    ///
    /// # Errors
    /// A [`WebError`] that says why not.
    pub async fn check(&self, url: &Url) -> Result<(), WebError> {
        rule::check(url)?;
        // How near the server is may have to be looked up for it.
        match url.host() {
            Some(host) => in_time(async { Ok(self.watch.check(&host).await?) }).await,
            None => Ok(()),
        }
    }

    /// Fetches what others have published there, also from where it has moved to within its origin.
    ///
    /// # Errors
    /// A [`WebError`]. An answer whose status says no is an answer.
    pub async fn get(&self, url: &Url) -> Result<Page, WebError> {
        in_time(self.follow(url)).await
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
        #[cfg(test)]
        if let Some(stand_in) = &self.stand_in {
            return Ok(stand_in.answer(body).await);
        }
        in_time(async { Page::read(self.send(Method::POST, url, Some(body), headers).await?).await }).await
    }

    async fn follow(&self, url: &Url) -> Result<Page, WebError> {
        let mut place = url.clone();
        for _ in 0..=OAUTH_REDIRECTS {
            let response = self.send(Method::GET, &place, None, &[]).await?;
            match moved(&response, &place)? {
                Some(next) => place = next,
                None => return Page::read(response).await,
            }
        }
        Err(WebError::Redirects { limit: OAUTH_REDIRECTS })
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Option<Body<'_>>,
        headers: &[(&str, Secret<String>)],
    ) -> Result<Response, WebError> {
        self.check(url).await?;
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
        request.send().await.map_err(|error| WebError::unanswered(&error, url, &self.network))
    }
}

async fn in_time<T>(work: impl Future<Output = Result<T, WebError>>) -> Result<T, WebError> {
    tokio::time::timeout(OAUTH_TIME, work).await.unwrap_or(Err(WebError::Late { after: OAUTH_TIME }))
}

/// Where the answer says that it is now; only within the same origin, which alone was to be asked.
fn moved(response: &Response, from: &Url) -> Result<Option<Url>, WebError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get("location").and_then(|location| location.to_str().ok());
    let place = location.and_then(|location| from.join(location).ok());
    let mut place = place.ok_or(WebError::Moved { place: None })?;
    place.set_fragment(None);
    match place.origin() == from.origin() {
        true => Ok(Some(place)),
        false => Err(WebError::Moved { place: Some(rule::place(&place)) }),
    }
}

impl Page {
    async fn read(mut response: Response) -> Result<Self, WebError> {
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
        Ok(Self { status, headers, body: body.freeze() })
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for Page {
    /// Tokens stand in bodies, and codes in headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("status", &self.status).finish_non_exhaustive()
    }
}

impl fmt::Debug for Body<'_> {
    /// Only its kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form(_) => "Form",
            Self::Json(_) => "Json",
        })
    }
}

/// How long a request may take, for whoever plans several.
#[must_use]
pub fn limit() -> Duration {
    OAUTH_TIME
}

#[cfg(test)]
mod tests;
