//! A page that a server wants to be visited: only ever shown, and only if it is one that a browser may open (B110).

use std::net::{IpAddr, Ipv4Addr};

use mcparley_model::limits::PAGE_URL_BYTES;
use url::{Host, Url};

/// A page that a server wants to be visited.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// What a person should be told about its address.
    pub doubts: Vec<PageDoubt>,
    url: Url,
    /// What the server calls this wish, when it tells that it is fulfilled.
    id: Option<String>,
}

/// What a person should be told about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageDoubt {
    /// Its host is written in characters that may look like others.
    LooksLikeAnother,
    /// Its host is a number.
    Number,
    /// What is typed there can be read on the way.
    Unencrypted,
}

/// Why a page is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PageFault {
    #[error("the page has no address that can be visited")]
    NoAddress,
    #[error("the address of the page is longer than {PAGE_URL_BYTES} bytes")]
    TooLong,
    #[error("the address of the page is not one of `http` or `https`")]
    Scheme,
    #[error("the address of the page has a name or a password in front of its host")]
    UserInfo,
}

impl Page {
    pub(super) fn read(address: Option<&str>, id: Option<String>) -> Result<Self, PageFault> {
        let address = address.ok_or(PageFault::NoAddress)?;
        if address.len() > PAGE_URL_BYTES {
            return Err(PageFault::TooLong);
        }
        let url = Url::parse(address).map_err(|_| PageFault::NoAddress)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PageFault::Scheme);
        }
        let host = url.host().ok_or(PageFault::NoAddress)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PageFault::UserInfo);
        }
        Ok(Self { doubts: doubts(&url, &host), id, url })
    }

    /// The whole address, to be shown in full. It has no character that hides or moves another.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The part of the address that says who is visited, to be shown apart.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

fn doubts(url: &Url, host: &Host<&str>) -> Vec<PageDoubt> {
    let address = match host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(IpAddr::V4(*address)),
        Host::Ipv6(address) => Some(IpAddr::V6(*address)),
    };
    let is_here = match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => *address == Ipv4Addr::LOCALHOST,
        Host::Ipv6(address) => address.is_loopback(),
    };
    let is_puny = matches!(host, Host::Domain(name) if name.split('.').any(|part| part.starts_with("xn--")));
    [
        (is_puny, PageDoubt::LooksLikeAnother),
        (address.is_some() && !is_here, PageDoubt::Number),
        (url.scheme() == "http" && !is_here, PageDoubt::Unencrypted),
    ]
    .into_iter()
    .filter_map(|(holds, doubt)| holds.then_some(doubt))
    .collect()
}

#[cfg(test)]
mod tests;
