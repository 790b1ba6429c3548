//! Decides which proxy stands on the way to a server.
//!
//! Pure. A proxy never sees what is meant for this machine.

mod exempt;

use mcparley_model::secret::Secret;
use url::{Host, Url};

use super::ProxySettings;
use crate::failure::{Failure, Obstacle};
use crate::transport::http::trouble::obstructed;
use exempt::Exempt;

/// The ways a proxy can be spoken to.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// Every proxy there is, and who needs none.
pub(super) struct Proxies {
    http: Option<Result<Url, Failure>>,
    https: Option<Result<Url, Failure>>,
    exempt: Exempt,
}

impl Proxies {
    pub(super) fn new(settings: &ProxySettings) -> Self {
        let ProxySettings { http, https, all, none_for } = settings;
        let pick = |own: &Option<Secret<String>>, name| match (own, all) {
            (Some(own), _) => Some(parse(own, name)),
            (None, Some(all)) => Some(parse(all, "ALL_PROXY")),
            (None, None) => None,
        };
        Self {
            http: pick(http, "HTTP_PROXY"),
            https: pick(https, "HTTPS_PROXY"),
            exempt: Exempt::parse(none_for),
        }
    }

    /// The proxy on the way to `url`.
    pub(super) fn of(&self, url: &Url) -> Result<Option<&Url>, Failure> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        match (proxy, url.host()) {
            (None, _) | (_, None) => Ok(None),
            (Some(_), Some(host)) if is_here(&host) => Ok(None),
            (Some(_), Some(host)) if self.exempt.has(&host, url.port_or_known_default()) => Ok(None),
            (Some(proxy), Some(_)) => proxy.as_ref().map(Some).map_err(Clone::clone),
        }
    }
}

impl Proxies {
    /// Whether a proxy has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let usable = [&self.http, &self.https].into_iter().flatten().filter_map(|proxy| proxy.as_ref().ok());
        usable.into_iter().any(|proxy| proxy.host_str().is_some_and(|host| host.eq_ignore_ascii_case(name)))
    }
}

impl std::fmt::Debug for Proxies {
    /// Credentials stand in their URLs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (http, https) = (self.http.is_some(), self.https.is_some());
        f.debug_struct("Proxies").field("http", &http).field("https", &https).finish_non_exhaustive()
    }
}

/// Most people leave `http://` out.
fn parse(text: &Secret<String>, variable: &str) -> Result<Url, Failure> {
    let text = text.expose().trim();
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).ok();
    let url = url
        .filter(|url| SCHEMES.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty()));
    url.ok_or_else(|| {
        let hint = format!("`{variable}` must be a URL such as `http://proxy.example:8080`");
        obstructed(Obstacle::Proxy, "the proxy is not a URL we can use".to_owned(), Some(hint))
    })
}

/// Whether this is the machine we run on.
fn is_here(host: &Host<&str>) -> bool {
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
