//! Decides which addresses the user's browser may open.
//!
//! The addresses come from servers. An address with another scheme starts a program on many systems, so only
//! `https` is allowed, and `http` on this machine. Openers accept only a [`BrowserPage`].

use std::fmt;

use mcparley_model::explain::Explain;
use mcparley_model::limits::PAGE_ADDRESS_BYTES;
use mcparley_model::text::Untrusted;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Host, Url};

use crate::web::is_this_machine;

/// Characters that a shell or an older opener could interpret. None of them has a meaning of its own in a
/// URL.
const UNSAFE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'$')
    .add(b'\'')
    .add(b'(')
    .add(b')')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The unsafe characters of a query, where a semicolon has no meaning of its own either.
const UNSAFE_IN_QUERY: &AsciiSet = &UNSAFE.add(b';');

/// An address that may be opened in a browser.
#[derive(Clone, PartialEq, Eq)]
pub struct BrowserPage(Url);

impl BrowserPage {
    /// Parses an address.
    ///
    /// # Errors
    /// When it is no URL, or must not be opened.
    pub fn parse(text: &str) -> Result<Self, PageError> {
        if text.len() > PAGE_ADDRESS_BYTES {
            return Err(PageError::TooLong { limit: PAGE_ADDRESS_BYTES });
        }
        // The parser would drop line breaks and tabs, and then the opened address differs from the one shown.
        if text.chars().any(char::is_control) {
            return Err(PageError::Control);
        }
        let url = Url::parse(text).map_err(|error| PageError::NotAUrl { why: error })?;
        Self::try_from(url)
    }

    /// The address.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The address for openers; it begins with `http`, and its only character that a shell interprets is `&`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl TryFrom<Url> for BrowserPage {
    type Error = PageError;

    fn try_from(url: Url) -> Result<Self, PageError> {
        match url.scheme() {
            "https" => {}
            "http" if url.host().is_some_and(|host| is_this_machine(&host)) => {}
            "http" => {
                return Err(PageError::Plain { host: Untrusted::new(url.host_str().unwrap_or_default()) });
            }
            scheme => return Err(PageError::Scheme { scheme: Untrusted::new(scheme) }),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PageError::UserInfo);
        }
        if !has_plain_host(&url) {
            return Err(PageError::Host);
        }
        Ok(Self(escape_unsafe(url)))
    }
}

impl fmt::Debug for BrowserPage {
    /// Prints only the origin: the rest may hold the `state`, which is secret until the user has consented.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Page({})", self.0.origin().ascii_serialization())
    }
}

/// Whether the host has only valid characters: the parser accepts more, and a host cannot be escaped.
fn has_plain_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

fn escape_unsafe(mut url: Url) -> Url {
    let path = utf8_percent_encode(url.path(), UNSAFE).to_string();
    url.set_path(&path);
    let query = url.query().map(|query| utf8_percent_encode(query, UNSAFE_IN_QUERY).to_string());
    url.set_query(query.as_deref());
    let fragment = url.fragment().map(|fragment| utf8_percent_encode(fragment, UNSAFE).to_string());
    url.set_fragment(fragment.as_deref());
    url
}

/// The reason why an address is not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The address cannot be parsed.
    #[error("it is not a URL")]
    NotAUrl {
        /// The parser's reason.
        #[source]
        why: url::ParseError,
    },
    /// The address has another scheme.
    #[error("`{}` is not `https`", scheme.display_line())]
    Scheme {
        /// The scheme.
        scheme: Untrusted,
    },
    /// The address is not encrypted: others on the network could read and change the page.
    #[error("`http` is not allowed to `{}`, only on this machine", host.display_line())]
    Plain {
        /// The host.
        host: Untrusted,
    },
    /// The address has a user name or a password before its host, which makes one host look like another.
    #[error("it has a user name or a password in it")]
    UserInfo,
    /// The address exceeds the size limit.
    #[error("it is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// Its host has invalid characters.
    #[error("its host name has invalid characters")]
    Host,
    /// The address has control characters.
    #[error("it has control characters in it")]
    Control,
}

impl Explain for PageError {
    fn hint(&self) -> Option<String> {
        Some("the server or its authorization server sent this address; no browser was opened".to_owned())
    }
}

#[cfg(test)]
mod tests;
