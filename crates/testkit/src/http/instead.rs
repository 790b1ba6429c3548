//! Faults that replace the execution of a request.

use super::admission::{AcceptedPost, RejectedPost, unknown_session};
use super::doors;
use super::request::HttpRequest;
use super::wire::{HttpWire, ResponseHeader};
use super::{ConnectionNext, TestSite, socket};
use crate::raw::RawBytes;
use crate::server::DueFaults;
use mcparley_testkit::Name;
use std::io;
use std::sync::atomic::Ordering;

const PAGE: &str = "<!doctype html><title>Sign in</title><p>Please \u{1b}[31msign in\u{1b}[0m.</p>";

/// Faults that apply to every request, whatever its content.
pub(crate) fn fault_for_any_request(
    site: &TestSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<Option<ConnectionNext>> {
    if has_foreign_origin(request) {
        return wire.write_text(403, "Origin not allowed").map(Some);
    }
    let scripts = &site.server.options.scripts;
    let open = request.header("authorization").is_some() || request.path.starts_with("/.well-known/");
    if scripts.has(Name::WwwAuthenticate) && !open {
        site.stats.count_event("unauthorized");
        let metadata = format!("{}/.well-known/oauth-protected-resource", site.origin);
        let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"tools\"");
        return wire.write_response(401, &[("WWW-Authenticate", &challenge)], &RawBytes::default()).map(Some);
    }
    if let Some(next) = doors::reject_without_token(site, request, wire)? {
        return Ok(Some(next));
    }
    match scripts.text(Name::Redirect) {
        Some(to) if is_redirectable(request) && request.path == "/mcp" => {
            site.stats.count_event("redirected");
            let location = match to {
                "other" => format!("{}/mcp", site.other_origin),
                "loop" => format!("{}/mcp", site.origin),
                // The answer of a server that is unaware of the TLS proxy in front of it.
                "downgrade" => format!("{}/moved", site.origin),
                _ => "/moved".to_owned(),
            };
            wire.write_response(307, &[("Location", &location)], &RawBytes::default()).map(Some)
        }
        Some(_) | None => Ok(None),
    }
}

/// Faults that replace the execution of this request.
pub(crate) fn fault_for_execution(
    site: &TestSite,
    admitted: &AcceptedPost,
    due: DueFaults<'_>,
    wire: &HttpWire,
) -> io::Result<Option<ConnectionNext>> {
    if let Some(refused) = expire_session(site, admitted, due) {
        return wire.write_json(refused.status, &[], &refused.refusal.to_message(None)).map(Some);
    }
    if let Some((status, retry)) = scripted_status(site, due) {
        let header: Option<ResponseHeader<'_>> = retry.map(|value| ("Retry-After", value));
        return wire.write_response(status, header.as_slice(), &RawBytes::new("as scripted")).map(Some);
    }
    if due.has(Name::NotFound) {
        return wire.write_text(404, "Not found").map(Some);
    }
    if due.has(Name::Html) {
        return wire.write_response(200, &[("Content-Type", "text/html")], &RawBytes::new(PAGE)).map(Some);
    }
    match due.number(Name::ErrBig) {
        Some(size) => {
            let body = RawBytes::default().append_fill(b'e', size);
            wire.write_response(500, &[("Content-Type", "text/plain")], &body).map(Some)
        }
        None => Ok(None),
    }
}

/// Ends the session of this request, if a script says so.
fn expire_session(site: &TestSite, admitted: &AcceptedPost, due: DueFaults<'_>) -> Option<RejectedPost> {
    let session = admitted.session.as_deref()?;
    let first = || !site.spent.swap(true, Ordering::Relaxed);
    let now = due.has(Name::ExpireAll) || (due.has(Name::Expire1) || due.has(Name::Expire400)) && first();
    if !now {
        return None;
    }
    site.sessions.end_session(session);
    Some(unknown_session(site, session))
}

fn scripted_status<'a>(site: &TestSite, due: DueFaults<'a>) -> Option<(u16, Option<&'a str>)> {
    let (text, retry) = (due.text(Name::Status), due.text(Name::RetryAfter));
    let (code, once) = match text.map(|text| text.split_once(':').unwrap_or((text, ""))) {
        Some((code, once)) => (code.parse().unwrap_or(500), once == "once"),
        None => (retry.map(|_| 429)?, false),
    };
    let over = once && site.spent.swap(true, Ordering::Relaxed);
    (!over).then_some((code, retry))
}

/// Whether the redirect script applies: to messages and WebSocket requests.
fn is_redirectable(request: &HttpRequest) -> bool {
    request.method == "POST" || socket::is_upgrade_request(request)
}

fn has_foreign_origin(request: &HttpRequest) -> bool {
    let ours = |origin: &str| {
        let host = origin.strip_prefix("http://").unwrap_or(origin);
        matches!(host.split(':').next(), Some("127.0.0.1" | "localhost"))
    };
    request.header("origin").is_some_and(|origin| !ours(origin))
}
