//! Who is let in: tokens that stand in a file and may change there, and the tokens of editors.

use super::request::HttpRequest;
use super::{Next, Site, Wire};
use crate::raw::Raw;
use mcparley_testkit::Name;
use std::io;

/// Refuses a request without the token that is asked for.
pub(crate) fn closed(site: &Site, request: &HttpRequest, wire: &Wire) -> io::Result<Option<Next>> {
    let scripts = &site.server.options.scripts;
    let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let known = |path: &str| bearer.is_some_and(|bearer| read(path).lines().any(|token| token == bearer));
    if scripts.text(Name::TokenFile).is_some_and(|path| !known(path)) {
        site.stats.count("unauthorized");
        let challenge = [("WWW-Authenticate", "Bearer error=\"invalid_token\"")];
        return wire.whole(401, &challenge, &Raw::default()).map(Some);
    }
    let Some(token) = scripts.text(Name::Ide) else { return Ok(None) };
    // Editors let no web page in, wherever it comes from.
    if request.header("origin").is_some() {
        return wire.refuse(403, "Origin not allowed").map(Some);
    }
    if request.header("x-claude-code-ide-authorization") != Some(token) {
        site.stats.count("unauthorized");
        return wire.refuse(401, "Unauthorized").map(Some);
    }
    Ok(None)
}

/// What a test has written for this server; nothing, if it has not.
#[expect(clippy::disallowed_methods, reason = "tests write these files, and know how large they are")]
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
