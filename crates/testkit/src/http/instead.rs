//! Answers that stand in the place of work: the request is not executed.

use super::admission::{Admitted, Refused, unknown_session};
use super::doors;
use super::request::HttpRequest;
use super::wire::{Header, Wire};
use super::{Next, Site, socket};
use crate::raw::Raw;
use crate::server::Due;
use mcparley_testkit::Name;
use std::io;
use std::sync::atomic::Ordering;

const PAGE: &str = "<!doctype html><title>Sign in</title><p>Please \u{1b}[31msign in\u{1b}[0m.</p>";

/// Faults that meet every request, whatever it says.
pub(crate) fn of_everything(site: &Site, request: &HttpRequest, wire: &Wire) -> io::Result<Option<Next>> {
    if is_foreign(request) {
        return wire.refuse(403, "Origin not allowed").map(Some);
    }
    let scripts = &site.server.options.scripts;
    let open = request.header("authorization").is_some() || request.path.starts_with("/.well-known/");
    if scripts.has(Name::WwwAuthenticate) && !open {
        site.stats.count("unauthorized");
        let metadata = format!("{}/.well-known/oauth-protected-resource", site.origin);
        let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"tools\"");
        return wire.whole(401, &[("WWW-Authenticate", &challenge)], &Raw::default()).map(Some);
    }
    if let Some(next) = doors::closed(site, request, wire)? {
        return Ok(Some(next));
    }
    match scripts.text(Name::Redirect) {
        Some(to) if is_sent_on(request) && request.path == "/mcp" => {
            site.stats.count("redirected");
            let location = match to {
                "other" => format!("{}/mcp", site.other_origin),
                "loop" => format!("{}/mcp", site.origin),
                // What a server says that does not know of the TLS in front of it.
                "downgrade" => format!("{}/moved", site.origin),
                _ => "/moved".to_owned(),
            };
            wire.whole(307, &[("Location", &location)], &Raw::default()).map(Some)
        }
        Some(_) | None => Ok(None),
    }
}

/// Faults that meet this request in the place of its execution.
pub(crate) fn of_work(
    site: &Site,
    admitted: &Admitted,
    due: Due<'_>,
    wire: &Wire,
) -> io::Result<Option<Next>> {
    if let Some(refused) = expired(site, admitted, due) {
        return wire.json(refused.status, &[], &refused.refusal.to_message(None)).map(Some);
    }
    if let Some((status, retry)) = status(site, due) {
        let header: Option<Header<'_>> = retry.map(|value| ("Retry-After", value));
        return wire.whole(status, header.as_slice(), &Raw::new("as scripted")).map(Some);
    }
    if due.has(Name::NotFound) {
        return wire.refuse(404, "Not found").map(Some);
    }
    if due.has(Name::Html) {
        return wire.whole(200, &[("Content-Type", "text/html")], &Raw::new(PAGE)).map(Some);
    }
    match due.number(Name::ErrBig) {
        Some(size) => {
            let body = Raw::default().fill(b'e', size);
            wire.whole(500, &[("Content-Type", "text/plain")], &body).map(Some)
        }
        None => Ok(None),
    }
}

/// Ends the session of this request, if its time has come.
fn expired(site: &Site, admitted: &Admitted, due: Due<'_>) -> Option<Refused> {
    let session = admitted.session.as_deref()?;
    let first = || !site.spent.swap(true, Ordering::Relaxed);
    let now = due.has(Name::ExpireAll) || (due.has(Name::Expire1) || due.has(Name::Expire400)) && first();
    if !now {
        return None;
    }
    site.sessions.end(session);
    Some(unknown_session(site, session))
}

fn status<'a>(site: &Site, due: Due<'a>) -> Option<(u16, Option<&'a str>)> {
    let (text, retry) = (due.text(Name::Status), due.text(Name::RetryAfter));
    let (code, once) = match text.map(|text| text.split_once(':').unwrap_or((text, ""))) {
        Some((code, once)) => (code.parse().unwrap_or(500), once == "once"),
        None => (retry.map(|_| 429)?, false),
    };
    let over = once && site.spent.swap(true, Ordering::Relaxed);
    (!over).then_some((code, retry))
}

/// Messages, and requests for a WebSocket.
fn is_sent_on(request: &HttpRequest) -> bool {
    request.method == "POST" || socket::is_wanted(request)
}

fn is_foreign(request: &HttpRequest) -> bool {
    let ours = |origin: &str| {
        let host = origin.strip_prefix("http://").unwrap_or(origin);
        matches!(host.split(':').next(), Some("127.0.0.1" | "localhost"))
    };
    request.header("origin").is_some_and(|origin| !ours(origin))
}
