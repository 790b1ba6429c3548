//! The connector catalog of an organization, and the proxy paths of its connectors.

use super::doors::read_test_file;
use super::request::HttpRequest;
use super::{ConnectionNext, HttpWire, TestSite};
use crate::raw::RawBytes;
use mcparley_testkit::Name;
use std::io;

/// Serves the catalog: each line of the file is a page, sent verbatim; `ORIGIN` in it becomes this server's
/// origin.
pub(crate) fn serve_catalog(
    site: &TestSite,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<Option<ConnectionNext>> {
    let Some(path) = site.server.options.scripts.text(Name::Connectors) else { return Ok(None) };
    if request.method != "GET" || request.path != "/v1/mcp_servers" {
        return Ok(None);
    }
    site.stats.count_event("catalog");
    let pages = read_test_file(path);
    let page = request.query("page").and_then(|page| page.parse().ok()).unwrap_or(0);
    match pages.lines().nth(page) {
        Some(page) => {
            wire.write_raw_json(200, &[], &RawBytes::new(page.replace("ORIGIN", &site.origin))).map(Some)
        }
        None => wire.write_text(404, "no such page").map(Some),
    }
}

/// The endpoint a path stands for: paths of connectors and editors are the usual endpoint.
pub(crate) fn endpoint_path<'p>(site: &TestSite, path: &'p str) -> &'p str {
    let scripts = &site.server.options.scripts;
    let connector = scripts.has(Name::Connectors) && path.starts_with("/v1/mcp/");
    let editor = scripts.has(Name::Ide) && matches!(path, "/" | "/sse");
    if connector || editor { "/mcp" } else { path }
}
