//! The URL and the headers of a server, checked before the first request.

use std::sync::Arc;

use mcparley_model::secret::Secret;
use mcparley_model::text::display_line;
use reqwest::header::{HeaderName, HeaderValue};
use url::Url;

use super::http_error::unreachable_failure;
use crate::authorizer::{Authorizer, NoAuthorizer};
use crate::failure::Failure;

/// Headers that the connection controls and the configuration cannot set.
const NOT_YOURS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding"];

/// The URL of a server, with headers and credentials.
#[derive(Clone)]
pub struct HttpTarget {
    /// The endpoint.
    pub url: Url,
    /// Headers of every request besides our own, which win.
    pub headers: Vec<(String, Secret<String>)>,
    /// Provides credentials, where constant headers are not enough.
    pub authorizer: Arc<dyn Authorizer>,
}

impl HttpTarget {
    /// A target that needs only these headers.
    #[must_use]
    pub fn new(url: Url, headers: Vec<(String, Secret<String>)>) -> Self {
        Self { url, headers, authorizer: Arc::new(NoAuthorizer) }
    }

    /// Checks the URL and parses the configured headers; errors never show their values.
    pub(super) fn check_headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        if !matches!(self.url.scheme(), "http" | "https") || !self.url.has_host() {
            return Err(unreachable_failure(
                format!("`{}` is not an HTTP URL scheme", self.url.scheme()),
                None,
            ));
        }
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let (name, value) = parse_header(name, value)?;
            if NOT_YOURS.contains(&name.as_str()) {
                return Err(unreachable_failure(format!("header `{name}` cannot be configured"), None));
            }
            headers.push((name, value));
        }
        Ok(headers)
    }
}

/// Parses a header; its value is marked as sensitive and never shown.
pub(super) fn parse_header(name: &str, value: &Secret<String>) -> Result<(HeaderName, HeaderValue), Failure> {
    let wrong = || unreachable_failure(format!("header `{}` cannot be sent", display_line(name)), None);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    let mut value = HeaderValue::from_str(value.expose()).map_err(|_| wrong())?;
    value.set_sensitive(true);
    Ok((name, value))
}

impl std::fmt::Debug for HttpTarget {
    /// Shows the origin and the names only: users put keys into the rest of a URL.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let origin = self.url.origin().ascii_serialization();
        f.debug_struct("HttpTarget").field("origin", &origin).field("headers", &names).finish_non_exhaustive()
    }
}
