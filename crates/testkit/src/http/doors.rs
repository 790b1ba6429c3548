//! Access checks of the MCP server: tokens in a file that may change, and editor tokens.

use super::request::HttpRequest;
use super::{ConnectionNext, HttpWire, TestSite};
use crate::raw::RawBytes;
use mcparley_testkit::Name;
use std::io;

/// Rejects a request without the required token.
pub(crate) fn reject_without_token(
    site: &TestSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<Option<ConnectionNext>> {
    let scripts = &site.server.options.scripts;
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let known =
        |path: &str| bearer.is_some_and(|bearer| read_test_file(path).lines().any(|token| token == bearer));
    if scripts.text(Name::TokenFile).is_some_and(|path| !known(path)) {
        site.stats.count_event("unauthorized");
        let challenge = [("WWW-Authenticate", "Bearer error=\"invalid_token\"")];
        return wire.write_response(401, &challenge, &RawBytes::default()).map(Some);
    }
    let Some(token) = scripts.text(Name::Ide) else { return Ok(None) };
    // Editors reject all web pages, whatever their origin.
    if request.header("origin").is_some() {
        return wire.write_text(403, "Origin not allowed").map(Some);
    }
    if request.header("x-claude-code-ide-authorization") != Some(token) {
        site.stats.count_event("unauthorized");
        return wire.write_text(401, "Unauthorized").map(Some);
    }
    Ok(None)
}

/// The content of a file that a test wrote for this server; empty if there is none.
#[expect(clippy::disallowed_methods, reason = "tests write these files, and know how large they are")]
pub(crate) fn read_test_file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
