//! Classifies the errors of the HTTP library.
//!
//! The only place that inspects them. A request without a connection was certainly not executed, and a
//! proxy's error is not the server's.

use std::error::Error;
use std::io::ErrorKind;
use std::sync::Arc;

use mcparley_model::limits::REQUEST_LIMIT;
use mcparley_platform::process::is_out_of_descriptors;
use rustls::{AlertDescription, CertificateError, InvalidMessage, OtherError};
use url::Url;

use super::network::{SelfSignedCertificate, UnresolvedHost};
use crate::failure::{Failure, FailurePhase, Obstacle};

/// Hint for an unknown issuer.
const TRUST: &str =
    "if you trust its issuer, set `NODE_EXTRA_CA_CERTS` to the file with the issuer's certificate";

/// Hint for a self-signed certificate.
const OWN: &str = "if it is yours, set `NODE_EXTRA_CA_CERTS` to its file; one that is marked as an authority (`CA:TRUE`) \
                   must sign another one for the server";

/// Hint for an expired certificate.
const RENEW: &str = "ask the operator of the server to renew it, and check the clock of this machine";

/// Hint for a certificate with another host name.
const NAME: &str = "use a host name in the URL that the certificate is for";

/// Hint for a required client certificate.
const IDENTITY: &str =
    "set `CLAUDE_CODE_CLIENT_CERT` to its file and `CLAUDE_CODE_CLIENT_KEY` to the file of its key";

/// Hint for a host name that cannot be resolved.
const LOOK_UP: &str = "check the spelling of the host name, and the DNS settings of this machine";

/// The failure of an unreachable server without a reason code.
pub(super) fn unreachable_failure(reason: String, hint: Option<String>) -> Failure {
    obstacle_failure(Obstacle::Other, reason, hint)
}

/// The failure of an unreachable server with the reason code `obstacle`.
pub(super) fn obstacle_failure(obstacle: Obstacle, reason: String, hint: Option<String>) -> Failure {
    Failure::Refused { obstacle, reason: Arc::from(reason), hint: hint.map(Arc::from) }
}

/// Classifies the error of a request that could not be sent or whose response head could not be read.
pub(super) fn classify_request_error(error: &reqwest::Error, proxy: Option<&Url>) -> Failure {
    if let Some(failure) = error_chain(error).find_map(|cause| classify_tls_error(cause, error.is_connect()))
    {
        return failure;
    }
    if error.is_connect() && error.is_timeout() {
        return Failure::TimedOut { phase: FailurePhase::Connecting, after: REQUEST_LIMIT };
    }
    match (error.is_connect() || error.is_builder(), proxy) {
        (true, Some(proxy)) => classify_proxy_error(error, proxy),
        // The server accepted the connection and closed it before the request was sent.
        (true, None) if error_chain(error).any(is_hang_up) => Failure::Closed { exit: None, sent: false },
        (true, None) if error_chain(error).any(|cause| cause.is::<UnresolvedHost>()) => {
            obstacle_failure(Obstacle::NoAddress, innermost_cause(error), Some(LOOK_UP.to_owned()))
        }
        (true, None) => obstacle_failure(connect_obstacle(error), innermost_cause(error), None),
        (false, _) => broken_failure(),
    }
}

fn is_hang_up(cause: &(dyn Error + 'static)) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset))
}

/// The failure of an exchange that broke off after the request was sent.
pub(super) fn broken_failure() -> Failure {
    Failure::Closed { exit: None, sent: true }
}

/// The failure of a proxy that requires sign-in (status 407).
pub(super) fn proxy_sign_in_failure(proxy: &Url) -> Failure {
    let hint = "add user name and password to its URL: `http://user:password@host:port`";
    let reason = format!("the proxy `{}` requires sign-in", display_proxy(proxy));
    obstacle_failure(Obstacle::ProxySignIn, reason, Some(hint.to_owned()))
}

/// The innermost cause: the outer ones are generic, and show the URL with all its secrets.
pub(super) fn innermost_cause(error: &reqwest::Error) -> String {
    error_chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Classifies a proxy error by its text, because the library exposes no types for it; a test checks the
/// texts.
fn classify_proxy_error(error: &reqwest::Error, proxy: &Url) -> Failure {
    let says = |words: &str| error_chain(error).any(|cause| cause.to_string() == words);
    if says("tunnel error: proxy authorization required") {
        return proxy_sign_in_failure(proxy);
    }
    if says("tunnel error: unsuccessful") {
        return proxy_refusal_failure(proxy);
    }
    if says("SOCKS error: failed to create underlying connection") {
        proxy_failure(proxy, "it cannot be reached")
    } else {
        proxy_failure(proxy, &innermost_cause(error))
    }
}

/// The failure of a proxy that does not reach the server, or denies it.
pub(super) fn proxy_refusal_failure(proxy: &Url) -> Failure {
    proxy_failure(proxy, "it refuses to connect to the server")
}

/// The failure of a proxy that is invalid or unreachable.
pub(super) fn proxy_failure(proxy: &Url, why: &str) -> Failure {
    let hint =
        "check `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`; list hosts that need no proxy in `NO_PROXY`";
    obstacle_failure(
        Obstacle::Proxy,
        format!("the proxy `{}`: {why}", display_proxy(proxy)),
        Some(hint.to_owned()),
    )
}

/// The reason code of a failed connection.
fn connect_obstacle(error: &reqwest::Error) -> Obstacle {
    let system = error_chain(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>()).last();
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

/// The proxy's URL without its credentials.
fn display_proxy(proxy: &Url) -> String {
    let host = proxy.host_str().unwrap_or_default();
    match proxy.port() {
        Some(port) => format!("{}://{host}:{port}", proxy.scheme()),
        None => format!("{}://{host}", proxy.scheme()),
    }
}

/// The error and all its causes. The error that an `io::Error` wraps is not among its sources.
fn error_chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| inner_error(*error))
}

fn inner_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<std::io::Error>() {
        Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    }
}

/// Classifies a TLS error. A server that requires a client certificate may say so only after the request was
/// sent, which it then does not read; any other TLS error after the handshake breaks an exchange.
fn classify_tls_error(error: &(dyn Error + 'static), greeting: bool) -> Option<Failure> {
    use CertificateError as Certificate;
    let error = error.downcast_ref::<rustls::Error>()?;
    let (obstacle, reason, hint) = match error {
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            (Obstacle::ClientCertificate, "it requires a client certificate", Some(IDENTITY))
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
                let hint = "check the clock of this machine";
                (Obstacle::CertificateEarly, "its certificate is not valid yet", Some(hint))
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                (Obstacle::CertificateName, "its certificate is for another name", Some(NAME))
            }
            Certificate::UnknownIssuer => {
                let reason = "its certificate is signed by an unknown issuer";
                (Obstacle::UnknownIssuer, reason, Some(TRUST))
            }
            Certificate::Other(OtherError(error)) if error.is::<SelfSignedCertificate>() => {
                let reason = "its certificate is self-signed and not trusted";
                (Obstacle::SelfSigned, reason, Some(OWN))
            }
            Certificate::Revoked => (Obstacle::Tls, "its certificate has been revoked", None),
            other => return Some(tls_failure(format!("its certificate cannot be trusted: {other}"))),
        },
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            let hint = "if it has no TLS, its URL begins with `http://` or `ws://`";
            (Obstacle::NoTls, "it does not speak TLS at this port", Some(hint))
        }
        other => return Some(tls_failure(format!("the TLS handshake failed: {other}"))),
    };
    Some(obstacle_failure(obstacle, reason.to_owned(), hint.map(str::to_owned)))
}

fn tls_failure(reason: String) -> Failure {
    obstacle_failure(Obstacle::Tls, reason, None)
}
