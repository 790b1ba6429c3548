//! Chooses the proxy for a server.
//!
//! Pure. Requests to this machine never go through a proxy.

mod exempt;

use mcparley_model::secret::Secret;
use url::{Host, Url};

use crate::failure::{Failure, Obstacle};
use crate::transport::http::http_error::obstacle_failure;
use crate::transport::network_settings::ProxySettings;
use exempt::ProxyExemptions;

/// The supported proxy schemes.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// All proxies, and the hosts that are exempt from them.
pub(super) struct Proxies {
    http: Option<Result<Url, Failure>>,
    https: Option<Result<Url, Failure>>,
    exempt: ProxyExemptions,
}

impl Proxies {
    pub(super) fn new(settings: &ProxySettings) -> Self {
        let ProxySettings { http, https, all, none_for } = settings;
        let pick = |own: &Option<Secret<String>>, name| match (own, all) {
            (Some(own), _) => Some(parse_proxy_url(own, name)),
            (None, Some(all)) => Some(parse_proxy_url(all, "ALL_PROXY")),
            (None, None) => None,
        };
        Self {
            http: pick(http, "HTTP_PROXY"),
            https: pick(https, "HTTPS_PROXY"),
            exempt: ProxyExemptions::parse(none_for),
        }
    }

    /// The proxy for requests to `url`.
    pub(super) fn proxy_for(&self, url: &Url) -> Result<Option<&Url>, Failure> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        match (proxy, url.host()) {
            (None, _) | (_, None) => Ok(None),
            (Some(_), Some(host)) if is_loopback_host(&host) => Ok(None),
            (Some(_), Some(host)) if self.exempt.matches_host(&host, url.port_or_known_default()) => Ok(None),
            (Some(proxy), Some(_)) => proxy.as_ref().map(Some).map_err(Clone::clone),
        }
    }
}

impl Proxies {
    /// Whether `name` is the host of a proxy.
    pub(super) fn has_proxy_host(&self, name: &str) -> bool {
        let usable = [&self.http, &self.https].into_iter().flatten().filter_map(|proxy| proxy.as_ref().ok());
        usable.into_iter().any(|proxy| proxy.host_str().is_some_and(|host| host.eq_ignore_ascii_case(name)))
    }
}

impl std::fmt::Debug for Proxies {
    /// Omits the URLs, which may contain credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (http, https) = (self.http.is_some(), self.https.is_some());
        f.debug_struct("Proxies").field("http", &http).field("https", &https).finish_non_exhaustive()
    }
}

/// Parses the URL of a proxy. `http://` may be left out, as is usual.
fn parse_proxy_url(text: &Secret<String>, variable: &str) -> Result<Url, Failure> {
    let text = text.expose().trim();
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).ok();
    let url = url
        .filter(|url| SCHEMES.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty()));
    url.ok_or_else(|| {
        let hint = format!("`{variable}` must be a URL such as `http://proxy.example:8080`");
        obstacle_failure(Obstacle::Proxy, "the proxy is not a valid URL".to_owned(), Some(hint))
    })
}

/// Whether the host is the machine we run on.
fn is_loopback_host(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests;
