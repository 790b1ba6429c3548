//! Decides by its looks whether an address may be asked, or shown to a person.
//!
//! Pure: nothing is looked up.

use mcparley_model::explain::Explain;
use mcparley_model::limits::PAGE_ADDRESS_BYTES;
use mcparley_model::text::display;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Host, Url};

use super::WebError;

/// What a query may hold by the URL standard, but not by RFC 3986: encoded, it means the same, and nothing takes it for
/// something else (B66).
const STRAY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'\\')
    .add(b'^')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Whether the address is one that sign-in asks: `https`, or `http` on this machine, and nothing else in it.
pub(super) fn check(url: &Url) -> Result<(), WebError> {
    if !is_guarded(url) {
        return Err(WebError::Scheme { place: place(url) });
    }
    match has_login(url) || url.fragment().is_some() {
        true => Err(WebError::Adorned { place: place(url) }),
        false => Ok(()),
    }
}

/// Checks the address of a page that a browser is about to be sent to (B65). What is given back is what must be opened: not
/// what was said, but what was understood (B66).
///
/// # Errors
/// A [`PageError`].
pub fn check_page(url: &str) -> Result<Url, PageError> {
    if url.len() > PAGE_ADDRESS_BYTES {
        return Err(PageError::TooLong { limit: PAGE_ADDRESS_BYTES });
    }
    if url.chars().any(char::is_control) {
        return Err(PageError::Control);
    }
    let mut url = Url::parse(url).map_err(|_| PageError::NoUrl)?;
    if !is_guarded(&url) {
        return Err(PageError::Scheme { place: place(&url) });
    }
    if has_login(&url) {
        return Err(PageError::Login { place: place(&url) });
    }
    if let Some(query) = url.query() {
        let query = utf8_percent_encode(query, STRAY).to_string();
        url.set_query(Some(&query));
    }
    Ok(url)
}

/// Why a page is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// It is no URL.
    #[error("the page to open is no URL")]
    NoUrl,
    /// It holds characters that no URL holds.
    #[error("the address of the page to open holds control characters")]
    Control,
    /// It is too long.
    #[error("the address of the page to open is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// It is not `https`, and not `http` on this machine.
    #[error("the page to open, at `{}`, is not reached over `https`", display(place))]
    Scheme {
        /// Its scheme and host.
        place: String,
    },
    /// It holds a name or a password.
    #[error("the address of the page to open, at `{}`, holds a name or a password", display(place))]
    Login {
        /// Its scheme and host.
        place: String,
    },
}

impl Explain for PageError {
    fn hint(&self) -> Option<String> {
        Some("the server or its authorization server named it, and no browser was opened".to_owned())
    }
}

/// Scheme and host: whatever follows may hold secrets.
pub(super) fn place(url: &Url) -> String {
    match url.host_str() {
        Some(host) => format!("{}://{host}", url.scheme()),
        None => format!("{}:", url.scheme()),
    }
}

/// Whether nobody on the way can read along.
fn is_guarded(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.has_host(),
        "http" => url.host().is_some_and(|host| is_here(&host)),
        _ => false,
    }
}

fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Whether this names the machine we run on, whatever name servers say.
pub(super) fn is_here(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_localhost(name),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    }
}

/// Whether the name is one for the machine we run on (RFC 6761, section 6.3).
pub(super) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests;
