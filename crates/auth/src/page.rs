//! Decides which addresses a person's browser may be sent to (H01).
//!
//! The addresses come from servers. What is not a web page starts a program on many systems, so only `https` passes,
//! and `http` on this machine. Openers take a [`Page`] and nothing else.

use std::fmt;

use mcparley_model::explain::Explain;
use mcparley_model::limits::PAGE_ADDRESS_BYTES;
use mcparley_model::text::Untrusted;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Host, Url};

use crate::web::is_here;

/// What a shell or an older opener could act upon. None of it has a meaning of its own in an address.
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

/// The same for parameters, where a semicolon parts nothing either.
const UNSAFE_IN_QUERY: &AsciiSet = &UNSAFE.add(b';');

/// An address that may be opened in a browser.
#[derive(Clone, PartialEq, Eq)]
pub struct Page(Url);

impl Page {
    /// The page a text names.
    ///
    /// # Errors
    /// When it is no address, or none that may be opened.
    pub fn parse(text: &str) -> Result<Self, PageError> {
        if text.len() > PAGE_ADDRESS_BYTES {
            return Err(PageError::TooLong { limit: PAGE_ADDRESS_BYTES });
        }
        // The parser would leave line breaks and tabs out, and then another address is opened than was shown.
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

    /// The address as openers get it; begins with `http` and has nothing in it that a shell acts upon but `&`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl TryFrom<Url> for Page {
    type Error = PageError;

    fn try_from(url: Url) -> Result<Self, PageError> {
        match url.scheme() {
            "https" => {}
            "http" if url.host().is_some_and(|host| is_here(&host)) => {}
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
        Ok(Self(escaped(url)))
    }
}

impl fmt::Debug for Page {
    /// The origin only: the rest may hold what is secret until the person has consented.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Page({})", self.0.origin().ascii_serialization())
    }
}

/// The parser takes more for a name than any name has, and in a name nothing can be escaped.
fn has_plain_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

fn escaped(mut url: Url) -> Url {
    let path = utf8_percent_encode(url.path(), UNSAFE).to_string();
    url.set_path(&path);
    let query = url.query().map(|query| utf8_percent_encode(query, UNSAFE_IN_QUERY).to_string());
    url.set_query(query.as_deref());
    let fragment = url.fragment().map(|fragment| utf8_percent_encode(fragment, UNSAFE).to_string());
    url.set_fragment(fragment.as_deref());
    url
}

/// Why an address is not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// It cannot be read.
    #[error("it is not a URL")]
    NotAUrl {
        /// The parser's reason.
        #[source]
        why: url::ParseError,
    },
    /// It is not of the web.
    #[error("`{}` is not `https`", scheme.display())]
    Scheme {
        /// What it begins with.
        scheme: Untrusted,
    },
    /// Anybody on the way could read and change the page.
    #[error("`http` is not allowed to `{}`, only on this machine", host.display())]
    Plain {
        /// Its host.
        host: Untrusted,
    },
    /// It has a name or a password before its host, which makes one host look like another.
    #[error("it has a user name or a password in it")]
    UserInfo,
    /// It is longer than any address a browser is sent to.
    #[error("it is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// Its host has characters in it that no host has.
    #[error("its host is no name of the web")]
    Host,
    /// It has characters in it that no address has.
    #[error("it has control characters in it")]
    Control,
}

impl Explain for PageError {
    fn hint(&self) -> Option<String> {
        Some("the server or its authorization server named it, and no browser was opened".to_owned())
    }
}

#[cfg(test)]
mod tests;
