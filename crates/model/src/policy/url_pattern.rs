//! URL patterns such as `https://*.company.com/*`.
//!
//! They are compared part by part with an address that was parsed by the WHATWG rules, the same parse that
//! is connected to: a glob over the text would see a host where the connection sees a user name.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;

use idna::AsciiDenyList;
use url::{Host, Url};

use crate::glob::Glob;
use crate::text;

/// A pattern for URLs: scheme, host, port, path and query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    written: Box<str>,
    /// The scheme; `None` matches any.
    scheme: Option<Box<str>>,
    host: Glob,
    port: PortPattern,
    /// The path; `None` matches any.
    path: Option<Glob>,
    /// The query; `None` matches any.
    query: Option<Glob>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortPattern {
    /// The default port of the scheme.
    Usual,
    Any,
    Exactly(u16),
}

impl UrlPattern {
    /// Parses `scheme://host[:port][/path][?query]`.
    ///
    /// The scheme is exact or `*`; without a port the scheme's default is meant, and `:*` means any; a
    /// missing path matches any path, and a missing query any query.
    ///
    /// # Errors
    /// A [`UrlPatternError`] if a part is invalid, rather than a pattern that silently matches nothing.
    pub fn parse(written: &str) -> Result<Self, UrlPatternError> {
        let fault = |fault| UrlPatternError { written: written.to_owned(), fault };
        if written.contains(|character: char| character.is_control() || matches!(character, '\\' | '#')) {
            return Err(fault(UrlPatternFault::Character));
        }
        let (scheme, rest) = written.split_once("://").ok_or_else(|| fault(UrlPatternFault::Scheme))?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = match tail.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (tail, None),
        };
        let (host, port) = split_port(authority).ok_or_else(|| fault(UrlPatternFault::Port))?;
        Ok(Self {
            written: Box::from(written),
            scheme: parse_scheme(scheme).ok_or_else(|| fault(UrlPatternFault::Scheme))?,
            host: parse_host(host).ok_or_else(|| fault(UrlPatternFault::Host))?,
            port,
            path: (!path.is_empty()).then(|| Glob::new(&normalize_encoding(path))),
            query: query.map(|query| Glob::new(&normalize_encoding(query))),
        })
    }

    /// Whether all parts of the URL match; user name and password are ignored.
    #[must_use]
    pub fn matches_url(&self, url: &Url) -> bool {
        let fits = |pattern: &Option<Glob>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(&normalize_encoding(text)))
        };
        self.scheme.as_deref().is_none_or(|scheme| http_scheme(scheme) == http_scheme(url.scheme()))
            && self.host_fits(url)
            && self.port_fits(url)
            && fits(&self.path, url.path())
            && fits(&self.query, url.query().unwrap_or_default())
    }

    fn host_fits(&self, url: &Url) -> bool {
        host_spellings(url).iter().any(|host| {
            // `*.company.com` requires a label before the dot, which a glob alone does not.
            let lacks_label = self.host.as_str().starts_with("*.") && host.starts_with('.');
            !lacks_label && self.host.matches(host)
        })
    }

    fn port_fits(&self, url: &Url) -> bool {
        match self.port {
            // The parser drops the default port of the scheme.
            PortPattern::Usual => url.port().is_none(),
            PortPattern::Any => true,
            PortPattern::Exactly(port) => url.port_or_known_default() == Some(port),
        }
    }
}

/// Parses the scheme in lower case: `Some(None)` for `*`, `None` for an invalid scheme.
fn parse_scheme(text: &str) -> Option<Option<Box<str>>> {
    if text == "*" {
        return Some(None);
    }
    let is_scheme = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
    is_scheme.then(|| Some(text.to_ascii_lowercase().into()))
}

fn split_port(authority: &str) -> Option<(&str, PortPattern)> {
    // An address in brackets has colons of its own.
    let after_host = authority.rfind(']').map_or(0, |at| at + 1);
    let colon = authority.get(after_host..)?.find(':').map(|at| at + after_host);
    let Some((host, port)) = colon.and_then(|at| Some((authority.get(..at)?, authority.get(at + 1..)?)))
    else {
        return Some((authority, PortPattern::Usual));
    };
    let port = match port {
        "*" => PortPattern::Any,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            PortPattern::Exactly(digits.parse().ok()?)
        }
        _ => return None,
    };
    Some((host, port))
}

/// Parses the host into the form that the URL parser produces, keeping the stars.
fn parse_host(text: &str) -> Option<Glob> {
    if text.is_empty() || text.contains('@') {
        return None;
    }
    if !text.contains('*') {
        return Some(Glob::new(&canonical_host(&Host::parse(text).ok()?)));
    }
    // Punycode encodes a whole label, so a star beside foreign letters would be encoded with them.
    if text.split('.').any(|label| label.contains('*') && !label.is_ascii()) {
        return None;
    }
    let host = idna::domain_to_ascii_cow(text.as_bytes(), AsciiDenyList::URL).ok()?;
    Some(Glob::new(&plain_host(&host)))
}

/// The underlying HTTP scheme: a WebSocket starts as an HTTP request.
fn http_scheme(scheme: &str) -> &str {
    match scheme {
        "ws" => "http",
        "wss" => "https",
        other => other,
    }
}

/// The spellings of the local machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// All spellings of the URL's host that mean the same machine.
fn host_spellings(url: &Url) -> Vec<String> {
    let Some(host) = url.host().map(|host| host.to_owned()) else { return Vec::new() };
    let mut spellings = vec![plain_host(&host.to_string()), canonical_host(&host)];
    if is_loopback(&host) {
        spellings.extend(LOOPBACK.map(str::to_owned));
    }
    spellings.dedup();
    spellings
}

/// The canonical spelling of a host: an IPv4-mapped IPv6 address is the IPv4 address, and loopback has one
/// name.
fn canonical_host(host: &Host) -> String {
    if is_loopback(host) {
        return LOOPBACK[0].to_owned();
    }
    match host {
        Host::Ipv6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => host.to_string(),
        },
        Host::Ipv4(_) | Host::Domain(_) => plain_host(&host.to_string()),
    }
}

/// Whether the host is the local machine; the unspecified address counts too, since connecting to it
/// reaches this machine.
fn is_loopback(host: &Host) -> bool {
    let is_v4 = |address: Ipv4Addr| address.is_loopback() || address.is_unspecified();
    match host {
        Host::Domain(name) => {
            let name = plain_host(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => is_v4(*address),
        Host::Ipv6(address) => {
            address.is_loopback() || address.is_unspecified() || address.to_ipv4_mapped().is_some_and(is_v4)
        }
    }
}

/// The host in lower case and without the trailing dot of the DNS root, which names the same host.
fn plain_host(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Normalizes percent-encoding: encodes the characters that the URL parser encodes, and decodes those that
/// need no encoding.
///
/// Applied to both sides, so that `%41`, `A` and a foreign letter in a pattern compare as they are meant.
fn normalize_encoding(text: &str) -> Cow<'_, str> {
    let is_settled = |byte: u8| byte.is_ascii_graphic() && !b"%\"<>^`{}".contains(&byte);
    if text.bytes().all(is_settled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = (*byte == b'%').then(|| after.split_first_chunk::<2>()).flatten();
        match escaped.and_then(|(digits, after)| Some((from_hex(*digits)?, after))) {
            Some((byte, after)) => {
                push_byte(&mut out, byte, byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
                rest = after;
            }
            None => {
                push_byte(&mut out, *byte, is_settled(*byte) || *byte == b'%');
                rest = after;
            }
        }
    }
    Cow::Owned(out)
}

fn push_byte(out: &mut String, byte: u8, as_it_is: bool) {
    if as_it_is {
        out.push(char::from(byte));
    } else {
        out.push_str(&format!("%{byte:02X}"));
    }
}

fn from_hex([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::display_line(&self.written))
    }
}

/// The error for a text that is not a URL pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a URL pattern: {fault}", text::display_line(written))]
pub struct UrlPatternError {
    /// The text.
    pub written: String,
    /// The fault in the text.
    pub fault: UrlPatternFault,
}

/// The fault in a URL pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlPatternFault {
    /// A character that the URL parser removes or changes.
    #[error("it has a control character, `\\` or `#`")]
    Character,
    /// The scheme is missing or invalid.
    #[error("it does not begin with a scheme, or `*`, and `://`")]
    Scheme,
    /// The host is invalid.
    #[error("its host is not valid")]
    Host,
    /// The port is invalid.
    #[error("its port is neither a number nor `*`")]
    Port,
}
