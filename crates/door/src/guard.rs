//! Guards the doors: checks host, origin, token and load of every HTTP request before its body is read.

pub(crate) mod load;
pub(crate) mod names;
pub(crate) mod refusal;
pub(crate) mod shared_rate;

use std::net::IpAddr;
use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use mcparley::pool::principal::ClientIdentity;
use mcparley_identity::{AccessPolicy, AccessRefusal};

use crate::guard::load::{LoadLimits, LoadPermit};
use crate::guard::names::NameCheck;
use crate::guard::refusal::RequestRefusal;
use mcparley_identity::TokenPolicy;

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
    /// The tokens of an issuer, which are accepted beside those of `tokens`.
    pub(crate) issuer: Option<AccessPolicy>,
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

    /// Identifies the client of a request by its token, for the main endpoint or a view. A client gets the same
    /// text for every wrong token.
    pub(crate) async fn identify(
        &self,
        parts: &Parts,
        peer: PeerAddress,
        view: Option<&str>,
    ) -> Result<Arc<ClientIdentity>, RequestRefusal> {
        let address = match peer {
            PeerAddress::Unix(uid) => return Ok(Arc::new(ClientIdentity::new(&format!("unix:{uid}")))),
            PeerAddress::Tcp(address) => address,
        };
        if self.tokens.is_open() {
            return Ok(Arc::new(ClientIdentity::new("open")));
        }
        let token = match bearer_token(parts) {
            Ok(token) => token,
            Err(BearerMiss::Absent) => {
                let unauthorized = "a bearer token is required";
                let refusal = RequestRefusal::new(StatusCode::UNAUTHORIZED, "no_token", unauthorized);
                return Err(refusal.with_challenge(self.challenge("", view)));
            }
            Err(BearerMiss::Ambiguous) => return Err(self.refuse_token("token_header", view)),
        };
        if let Some(identity) = self.issuer.as_ref().and_then(|issuer| issuer.find_verified(token, view)) {
            return Ok(identity);
        }
        if let Some(identity) = self.tokens.find_account(token) {
            return Ok(identity);
        }
        let refused = match &self.issuer {
            None => None,
            Some(issuer) => match issuer.verify_token(token, view).await {
                Ok(identity) => return Ok(identity),
                Err(refused) => Some(refused),
            },
        };
        // A valid token passes however many wrong ones came from its address, which may be that of a proxy.
        let is_guess = refused.is_none_or(AccessRefusal::may_be_guess);
        if is_guess && let Err(too_many) = self.load.count_failure(address) {
            return Err(match refused {
                // Its client has to learn that it needs a newer one.
                Some(AccessRefusal::Expired) => {
                    RequestRefusal { misuse: None, ..self.refuse_token("failed_tokens", view) }
                }
                Some(_) | None => too_many,
            });
        }
        Err(match refused {
            None => self.refuse_token("token", view),
            Some(AccessRefusal::Scope) => {
                let missing = "the token lacks a required scope";
                RequestRefusal::new(StatusCode::FORBIDDEN, AccessRefusal::Scope.as_str(), missing)
                    .with_challenge(self.challenge(", error=\"insufficient_scope\"", view))
                    .with_misuse(None)
            }
            Some(refused @ (AccessRefusal::IssuerAway | AccessRefusal::KeyPending)) => {
                let away = "tokens cannot be checked now";
                RequestRefusal::new(StatusCode::SERVICE_UNAVAILABLE, refused.as_str(), away)
            }
            Some(refused) => self.refuse_token(refused.as_str(), view),
        })
    }

    /// Refuses a wrong token; the reason is for the metrics and the audit log.
    fn refuse_token(&self, reason: &'static str, view: Option<&str>) -> RequestRefusal {
        RequestRefusal::new(StatusCode::UNAUTHORIZED, reason, "the bearer token is not valid")
            .with_challenge(self.challenge(", error=\"invalid_token\"", view))
            .with_misuse(None)
    }

    /// The challenge (RFC 6750, section 3) with an error, and with the place of the metadata (RFC 9728, section 5.1).
    fn challenge(&self, error: &str, view: Option<&str>) -> String {
        let place = self.issuer.as_ref().map(|issuer| format!(", {}", issuer.resource().challenge_of(view)));
        format!("Bearer realm=\"mcparley\"{error}{}", place.unwrap_or_default())
    }

    /// Admits a request of a principal within the limits.
    pub(crate) fn admit(&self, principal: &Arc<str>) -> Result<LoadPermit, RequestRefusal> {
        self.load.admit(principal)
    }
}

/// The reason why a request has no bearer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BearerMiss {
    Absent,
    /// There are several headers, or one that is no text.
    Ambiguous,
}

/// The token in the `Authorization` header.
fn bearer_token(parts: &Parts) -> Result<&str, BearerMiss> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(BearerMiss::Absent)?;
    if values.next().is_some() {
        return Err(BearerMiss::Ambiguous);
    }
    let value = value.to_str().map_err(|_| BearerMiss::Ambiguous)?;
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        Some(_) | None => Err(BearerMiss::Absent),
    }
}
