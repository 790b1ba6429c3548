//! Where a server is, checked before anything is sent.

use std::sync::Arc;

use mcparley_model::secret::Secret;
use mcparley_model::text::display;
use reqwest::header::{HeaderName, HeaderValue};
use url::Url;

use super::trouble::refused;
use crate::authorizer::{Authorizer, Nobody};
use crate::failure::Failure;

/// Headers that belong to the connection and not to whoever configures it.
const NOT_YOURS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding"];

/// Where a server is.
#[derive(Clone)]
pub struct HttpTarget {
    /// Its endpoint.
    pub url: Url,
    /// What every request carries besides our own headers, which win.
    pub headers: Vec<(String, Secret<String>)>,
    /// What lets us in, where headers that stay the same are not enough.
    pub authorizer: Arc<dyn Authorizer>,
}

impl HttpTarget {
    /// A server that lets in whoever has these headers.
    #[must_use]
    pub fn new(url: Url, headers: Vec<(String, Secret<String>)>) -> Self {
        Self { url, headers, authorizer: Arc::new(Nobody) }
    }

    /// The headers the configuration wants, none of which is shown.
    pub(super) fn check(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        if !matches!(self.url.scheme(), "http" | "https") || !self.url.has_host() {
            return Err(refused(format!("`{}` is no URL for HTTP", self.url.scheme()), None));
        }
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let (name, value) = header(name, value)?;
            if NOT_YOURS.contains(&name.as_str()) {
                return Err(refused(format!("header `{name}` is not for the configuration to set"), None));
            }
            headers.push((name, value));
        }
        Ok(headers)
    }
}

/// A header as the library takes it; its value is shown nowhere.
pub(super) fn header(name: &str, value: &Secret<String>) -> Result<(HeaderName, HeaderValue), Failure> {
    let wrong = || refused(format!("header `{}` cannot be sent", display(name)), None);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    let mut value = HeaderValue::from_str(value.expose()).map_err(|_| wrong())?;
    value.set_sensitive(true);
    Ok((name, value))
}

impl std::fmt::Debug for HttpTarget {
    /// The origin and the names only: the rest of a URL is where people put their keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let origin = self.url.origin().ascii_serialization();
        f.debug_struct("HttpTarget").field("origin", &origin).field("headers", &names).finish_non_exhaustive()
    }
}
