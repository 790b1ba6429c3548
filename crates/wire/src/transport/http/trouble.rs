//! What the errors of the HTTP library mean.
//!
//! The only place that looks into them. Before there was a connection nothing can have been executed, and a
//! proxy's trouble is not the server's.

use std::error::Error;
use std::io::ErrorKind;
use std::sync::Arc;

use mcparley_model::limits::REQUEST_LIMIT;
use mcparley_platform::process::is_out_of_descriptors;
use rustls::{AlertDescription, CertificateError, InvalidMessage, OtherError};
use url::Url;

use super::network::{SelfSigned, Unresolved};
use crate::failure::{Failure, Obstacle, Phase};

/// How people tell us what to trust.
const TRUST: &str =
    "if you trust whoever signed it, name the file with their certificate in `NODE_EXTRA_CA_CERTS`";

/// What people do about a certificate that vouches for itself.
const OWN: &str = "if it is yours, name its file in `NODE_EXTRA_CA_CERTS`; one that is marked as an authority (`CA:TRUE`) \
                   must sign another one for the server";

/// What people do about one that has run out.
const RENEW: &str = "whoever runs the server must renew it; if they have, look at the clock of this machine";

/// What people do about one that is for somebody else.
const NAME: &str = "write the URL with a name that the certificate is for";

/// How people tell us who we are.
const IDENTITY: &str =
    "name its file in `CLAUDE_CODE_CLIENT_CERT` and that of its key in `CLAUDE_CODE_CLIENT_KEY`";

/// What people do about a name without an address.
const LOOK_UP: &str =
    "look whether the name is right, and whether the name server of this machine can be reached";

/// A server that cannot be reached, for a reason that only words can say.
pub(super) fn refused(reason: String, hint: Option<String>) -> Failure {
    obstructed(Obstacle::Other, reason, hint)
}

/// A server that cannot be reached because of `obstacle`.
pub(super) fn obstructed(obstacle: Obstacle, reason: String, hint: Option<String>) -> Failure {
    Failure::Refused { obstacle, reason: Arc::from(reason), hint: hint.map(Arc::from) }
}

/// What it means that a request could not be made or its answer's head not be read.
pub(super) fn unanswered(error: &reqwest::Error, proxy: Option<&Url>) -> Failure {
    if let Some(failure) = chain(error).find_map(|cause| tls(cause, error.is_connect())) {
        return failure;
    }
    if error.is_connect() && error.is_timeout() {
        return Failure::TimedOut { phase: Phase::Connecting, after: REQUEST_LIMIT };
    }
    match (error.is_connect() || error.is_builder(), proxy) {
        (true, Some(proxy)) => unreached(error, proxy),
        // There was somebody, who hung up before anything was said.
        (true, None) if chain(error).any(hung_up) => Failure::Closed { exit: None, sent: false },
        (true, None) if chain(error).any(|cause| cause.is::<Unresolved>()) => {
            obstructed(Obstacle::NoAddress, cause(error), Some(LOOK_UP.to_owned()))
        }
        (true, None) => obstructed(obstacle(error), cause(error), None),
        (false, _) => broken(),
    }
}

fn hung_up(cause: &(dyn Error + 'static)) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset))
}

/// What it means that an exchange broke off.
pub(super) fn broken() -> Failure {
    Failure::Closed { exit: None, sent: true }
}

/// The proxy does not let us through.
pub(super) fn no_pass(proxy: &Url) -> Failure {
    let hint = "put the name and the password into its URL: `http://name:password@host:port`";
    let reason = format!("the proxy `{}` wants a sign-in", shown(proxy));
    obstructed(Obstacle::ProxySignIn, reason, Some(hint.to_owned()))
}

/// The innermost cause: the outer ones say only that something failed, and name the URL with all its secrets.
pub(super) fn cause(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// The library has no types for this that we could see, so its words decide; a test holds them.
fn unreached(error: &reqwest::Error, proxy: &Url) -> Failure {
    let says = |words: &str| chain(error).any(|cause| cause.to_string() == words);
    if says("tunnel error: proxy authorization required") {
        return no_pass(proxy);
    }
    if says("tunnel error: unsuccessful") {
        return no_way(proxy);
    }
    match says("SOCKS error: failed to create underlying connection") {
        true => proxy_failed(proxy, "it cannot be reached"),
        false => proxy_failed(proxy, &cause(error)),
    }
}

/// The proxy does not reach the server, or does not want to.
pub(super) fn no_way(proxy: &Url) -> Failure {
    proxy_failed(proxy, "it does not let us through to the server")
}

/// The proxy is not what it should be.
pub(super) fn proxy_failed(proxy: &Url, why: &str) -> Failure {
    let hint =
        "it stands in `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`; `NO_PROXY` lists the hosts that need none";
    obstructed(Obstacle::Proxy, format!("the proxy `{}`: {why}", shown(proxy)), Some(hint.to_owned()))
}

/// What stood in the way of a connection.
fn obstacle(error: &reqwest::Error) -> Obstacle {
    let system = chain(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>()).last();
    match system {
        Some(system) if is_out_of_descriptors(system) => Obstacle::Descriptors,
        Some(system) => match system.kind() {
            ErrorKind::ConnectionRefused => Obstacle::PortClosed,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
                Obstacle::NoRoute
            }
            _ => Obstacle::Other,
        },
        None => Obstacle::Other,
    }
}

/// Without the credentials.
fn shown(proxy: &Url) -> String {
    let host = proxy.host_str().unwrap_or_default();
    match proxy.port() {
        Some(port) => format!("{}://{host}:{port}", proxy.scheme()),
        None => format!("{}://{host}", proxy.scheme()),
    }
}

/// The error and all its causes. What an `io::Error` wraps is not among its sources.
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| inner(*error))
}

fn inner<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>() {
        Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    }
}

/// What is wrong with the server's TLS, or with ours. A server that wants a certificate may say so only when the
/// request is on its way already, which it then does not read; whatever else breaks behind the greeting breaks
/// an exchange.
fn tls(error: &(dyn Error + 'static), greeting: bool) -> Option<Failure> {
    use CertificateError as Certificate;
    let error = error.downcast_ref::<rustls::Error>()?;
    let (obstacle, reason, hint) = match error {
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            (Obstacle::ClientCertificate, "it wants a client certificate", Some(IDENTITY))
        }
        rustls::Error::AlertReceived(AlertDescription::BadCertificate | AlertDescription::UnknownCA) => {
            (Obstacle::ClientCertificate, "it does not accept our client certificate", Some(IDENTITY))
        }
        _ if !greeting => return None,
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            Certificate::Expired | Certificate::ExpiredContext { .. } => {
                (Obstacle::CertificateExpired, "its certificate has expired", Some(RENEW))
            }
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                let hint = "look whether the clock of this machine is right";
                (Obstacle::CertificateEarly, "its certificate is not valid yet", Some(hint))
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                (Obstacle::CertificateName, "its certificate is for another name", Some(NAME))
            }
            Certificate::UnknownIssuer => {
                let reason = "its certificate is not signed by anybody who is trusted here";
                (Obstacle::UnknownIssuer, reason, Some(TRUST))
            }
            Certificate::Other(OtherError(error)) if error.is::<SelfSigned>() => {
                let reason = "its certificate is signed by itself, and by nobody who is trusted here";
                (Obstacle::SelfSigned, reason, Some(OWN))
            }
            Certificate::Revoked => (Obstacle::Tls, "its certificate has been withdrawn", None),
            other => return Some(distrusted(format!("its certificate cannot be trusted: {other}"))),
        },
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            let hint = "if it has no TLS, its URL begins with `http://` or `ws://`";
            (Obstacle::NoTls, "it does not speak TLS at this port", Some(hint))
        }
        other => return Some(distrusted(format!("no agreement on TLS: {other}"))),
    };
    Some(obstructed(obstacle, reason.to_owned(), hint.map(str::to_owned)))
}

fn distrusted(reason: String) -> Failure {
    obstructed(Obstacle::Tls, reason, None)
}
