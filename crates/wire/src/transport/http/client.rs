//! The HTTP library: how it is set up, and what its errors mean.
//!
//! Nothing is read from the environment: no proxy is used that nobody named.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, retry};
use url::Url;

use super::HttpTarget;
use crate::failure::{Failure, Phase};

/// Many servers close a connection after five idle seconds; a request sent in that moment has an unknown end.
const IDLE: Duration = Duration::from_secs(4);

/// After a burst of calls, how many connections are kept for the next.
const IDLE_CONNECTIONS: usize = 32;

/// After this much silence the system asks whether the other side is still there: streams have no limit.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Headers that belong to the connection and not to whoever configures it.
const NOT_YOURS: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding"];

/// A client for one server.
pub(super) fn build(url: &Url) -> Result<Client, Failure> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused(format!("`{}` is no URL for HTTP", url.scheme())));
    }
    let client = Client::builder()
        .user_agent(concat!("mcparley/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(REQUEST_LIMIT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .tcp_keepalive(KEEP_ALIVE);
    // Reading the system's certificates takes longer than all the rest.
    let client = if url.scheme() == "http" { client.tls_certs_only([]) } else { client };
    client.build().map_err(|error| refused(cause(&error)))
}

/// The headers the configuration wants, none of which is shown.
pub(super) fn headers(target: &HttpTarget) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in &target.headers {
        let wrong = || refused(format!("header `{}` cannot be sent", mcparley_model::text::display(name)));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        if NOT_YOURS.contains(&name.as_str()) {
            return Err(refused(format!("header `{name}` is not for the configuration to set")));
        }
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

fn refused(reason: String) -> Failure {
    Failure::Refused { reason: Arc::from(reason), hint: None }
}

/// What an exchange that broke means: before there was a connection, nothing can have been executed.
pub(super) fn broken(error: &reqwest::Error) -> Failure {
    if error.is_connect() && error.is_timeout() {
        return Failure::TimedOut { phase: Phase::Connecting, after: REQUEST_LIMIT };
    }
    if error.is_connect() || error.is_builder() {
        return refused(cause(error));
    }
    Failure::Closed { exit: None, sent: true }
}

/// The innermost cause: the outer ones say only that something failed, and name the URL with all its secrets.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
