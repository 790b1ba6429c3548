//! An elicitation page (URL mode): only shown to the user, and only if its URL is safe for a browser.

use std::net::{IpAddr, Ipv4Addr};

use mcparley_model::limits::PAGE_URL_BYTES;
use url::{Host, Url};

/// A page that a server asks the user to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationPage {
    /// Warnings about the URL, to show to the user.
    pub warnings: Vec<PageWarning>,
    url: Url,
    /// The elicitation id, by which the server reports that the page is finished.
    id: Option<String>,
}

/// A warning about a URL, to show to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageWarning {
    /// The host is punycode, whose characters may look like others.
    Punycode,
    /// The host is an IP address.
    IpAddress,
    /// The connection is not encrypted.
    Unencrypted,
}

/// The reason a page cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PageUrlError {
    #[error("the page has no valid URL")]
    NoAddress,
    #[error("the URL of the page is longer than {PAGE_URL_BYTES} bytes")]
    TooLong,
    #[error("the URL of the page is not `http` or `https`")]
    Scheme,
    #[error("the URL of the page contains a user name or password")]
    UserInfo,
}

impl ElicitationPage {
    /// Parses and checks the URL of a page.
    pub(crate) fn parse(address: Option<&str>, id: Option<String>) -> Result<Self, PageUrlError> {
        let address = address.ok_or(PageUrlError::NoAddress)?;
        if address.len() > PAGE_URL_BYTES {
            return Err(PageUrlError::TooLong);
        }
        let url = Url::parse(address).map_err(|_| PageUrlError::NoAddress)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PageUrlError::Scheme);
        }
        let host = url.host().ok_or(PageUrlError::NoAddress)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PageUrlError::UserInfo);
        }
        Ok(Self { warnings: find_warnings(&url, &host), id, url })
    }

    /// The URL, to be shown in full. It has no hidden or bidi characters.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The host of the URL, to be shown separately.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The elicitation id, if the server sent one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

fn find_warnings(url: &Url, host: &Host<&str>) -> Vec<PageWarning> {
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
        (is_puny, PageWarning::Punycode),
        (address.is_some() && !is_here, PageWarning::IpAddress),
        (url.scheme() == "http" && !is_here, PageWarning::Unencrypted),
    ]
    .into_iter()
    .filter_map(|(holds, doubt)| holds.then_some(doubt))
    .collect()
}

#[cfg(test)]
mod tests;
