//! Checks the URL and the headers of a server before the first request.

use mcparley_model::secret::Secret;
use mcparley_model::text::display_line;
use reqwest::header::{HeaderName, HeaderValue};

use super::HttpTarget;
use super::http_error::unreachable_failure;
use crate::failure::Failure;

/// Headers that the connection controls and the configuration cannot set.
const NOT_YOURS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding"];

impl HttpTarget {
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
