//! Guards the doors: checks host, origin, token and load of every HTTP request before its body is read.

pub(crate) mod load;
pub(crate) mod names;
pub(crate) mod refusal;
pub(crate) mod shared_rate;
pub(crate) mod tokens;

use std::net::IpAddr;
use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;

use crate::guard::load::{LoadLimits, LoadPermit};
use crate::guard::names::NameCheck;
use crate::guard::refusal::RequestRefusal;
use crate::guard::tokens::TokenPolicy;

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PeerAddress {
    /// A TCP connection from this address.
    Tcp(IpAddr),
    /// A Unix socket, with the user id of the other process.
    Unix(u32),
}

/// All checks of one door.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) names: NameCheck,
    pub(crate) tokens: TokenPolicy,
    pub(crate) load: Arc<LoadLimits>,
}

impl Guard {
    /// Checks the host and the origin of a request.
    pub(crate) fn check_names(&self, parts: &Parts, peer: PeerAddress) -> Result<(), RequestRefusal> {
        match peer {
            // A page in a browser cannot connect to a Unix socket.
            PeerAddress::Unix(_) => {}
            PeerAddress::Tcp(_) => self.names.check_host(parts)?,
        }
        self.names.check_origin(parts)
    }

    /// Identifies the principal of a request by its token.
    pub(crate) fn identify(&self, parts: &Parts, peer: PeerAddress) -> Result<Arc<str>, RequestRefusal> {
        let address = match peer {
            PeerAddress::Unix(uid) => return Ok(Arc::from(format!("unix:{uid}"))),
            PeerAddress::Tcp(address) => address,
        };
        if self.tokens.is_open() {
            return Ok(Arc::from("open"));
        }
        self.load.check_failures(address)?;
        let Some(token) = bearer_token(parts) else {
            let unauthorized = "a bearer token is required";
            return Err(RequestRefusal::new(StatusCode::UNAUTHORIZED, "no_token", unauthorized));
        };
        self.tokens.find_principal(token).ok_or_else(|| {
            self.load.count_failure(address);
            RequestRefusal::new(StatusCode::UNAUTHORIZED, "token", "the bearer token is not valid")
        })
    }

    /// Admits a request of a principal within the limits.
    pub(crate) fn admit(&self, principal: &Arc<str>) -> Result<LoadPermit, RequestRefusal> {
        self.load.admit(principal)
    }
}

/// The token in the `Authorization` header; `None` if there is none, or more than one.
fn bearer_token(parts: &Parts) -> Option<&str> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
