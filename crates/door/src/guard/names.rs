//! Host and origin of a request. Both are checked on every listener, against DNS rebinding.

use std::net::SocketAddr;

use hyper::StatusCode;
use hyper::header::{HOST, ORIGIN};
use hyper::http::request::Parts;

use crate::guard::refusal::RequestRefusal;

/// The names under which a door is reached, and the origins that may use it.
#[derive(Clone, Debug)]
pub(crate) struct NameCheck {
    hosts: Vec<ServedHost>,
    port: Option<u16>,
    origins: Vec<String>,
}

/// A name of the door.
#[derive(Clone, Debug)]
struct ServedHost {
    name: String,
    /// The port, where a proxy has another one than the door.
    port: Option<u16>,
}

/// The names that a machine has for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl ServedHost {
    fn parse_host(text: &str) -> Self {
        let (name, port) = split_port(text);
        match port.and_then(|port| port.parse().ok()) {
            Some(port) => Self { name: name.to_owned(), port: Some(port) },
            None => Self { name: text.to_owned(), port: None },
        }
    }

    /// Whether a client that connects to `ours` may name the host like this.
    fn is_named(&self, name: &str, port: Option<&str>, ours: Option<u16>) -> bool {
        let is_port = match (port, self.port) {
            (None, None | Some(80 | 443)) => true,
            (None, Some(_)) => false,
            (Some(port), own) => port.parse().ok().is_some_and(|port| Some(port) == own.or(ours)),
        };
        is_port && self.name.eq_ignore_ascii_case(name)
    }
}

impl NameCheck {
    /// The names of a door on this address, with further names (`NAME` or `NAME:PORT`) and origins.
    pub(crate) fn new(address: Option<SocketAddr>, hosts: &[String], origins: &[String]) -> Self {
        let mut names: Vec<String> = LOOPBACK.map(str::to_owned).into();
        match address.map(|address| address.ip()) {
            Some(ip) if ip.is_unspecified() => {}
            Some(ip @ std::net::IpAddr::V4(_)) => names.push(ip.to_string()),
            Some(ip @ std::net::IpAddr::V6(_)) => names.push(format!("[{ip}]")),
            None => {}
        }
        let own = names.into_iter().map(|name| ServedHost { name, port: None });
        let hosts = own.chain(hosts.iter().map(|host| ServedHost::parse_host(host)));
        let origins = origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase());
        Self {
            hosts: hosts.collect(),
            port: address.map(|address| address.port()),
            origins: origins.collect(),
        }
    }

    /// Checks the `Host` header and the authority of the URI. A request without either is misdirected.
    pub(crate) fn check_host(&self, parts: &Parts) -> Result<(), RequestRefusal> {
        let mut hosts = parts.headers.get_all(HOST).iter();
        let (first, second) = (hosts.next(), hosts.next());
        let authority = parts.uri.authority().map(|authority| authority.as_str());
        let header = match (first, second) {
            (None, _) => None,
            (Some(host), None) => Some(host.to_str().unwrap_or_default()),
            (Some(_), Some(_)) => return Err(foreign_host()),
        };
        if header.is_none() && authority.is_none() {
            let missing = "a `Host` header is required";
            return Err(RequestRefusal::new(StatusCode::MISDIRECTED_REQUEST, "host", missing));
        }
        match header.into_iter().chain(authority).all(|host| self.is_ours(host)) {
            true => Ok(()),
            false => Err(foreign_host()),
        }
    }

    /// Checks the `Origin` header, which only browsers send.
    pub(crate) fn check_origin(&self, parts: &Parts) -> Result<(), RequestRefusal> {
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let is_allowed = origins.next().is_none()
            && origin.to_str().is_ok_and(|origin| self.is_listed(origin) || self.is_own_origin(origin));
        match is_allowed {
            true => Ok(()),
            false => Err(RequestRefusal::new(
                StatusCode::FORBIDDEN,
                "origin",
                "this origin is not allowed: list it with `--allow-origin`",
            )),
        }
    }

    /// Whether an origin is in the list of the user.
    pub(crate) fn is_listed(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.has_port(host) && self.is_ours(host))
    }

    /// Whether an origin names our port; without a port it is the origin of another server.
    fn has_port(&self, host: &str) -> bool {
        let (_, port) = split_port(host);
        port.is_some() || matches!(self.port, Some(80 | 443))
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = split_port(host);
        self.hosts.iter().any(|ours| ours.is_named(name, port, self.port))
    }
}

/// Whether every host that a request names is this machine's name for itself.
pub(crate) fn has_loopback_host(parts: &Parts) -> bool {
    let headers = parts.headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let authority = parts.uri.authority().map(|authority| authority.as_str());
    headers
        .chain(authority)
        .all(|host| LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(split_port(host).0)))
}

fn foreign_host() -> RequestRefusal {
    RequestRefusal::new(
        StatusCode::FORBIDDEN,
        "host",
        "this host is not served here: name it with `--host NAME` or `--host NAME:PORT`",
    )
}

/// Splits `name:port`; the colons of an IPv6 address stand in brackets.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        Some(_) | None => (host, None),
    }
}
