//! An organisation's catalogue of connectors, and the paths its proxy offers them at.

use super::doors::read;
use super::request::HttpRequest;
use super::{Next, Site, Wire};
use crate::raw::Raw;
use mcparley_testkit::Name;
use std::io;

/// The catalogue: each line of the file is a page, as it is sent; `ORIGIN` in it is where this server is.
pub(crate) fn catalogue(site: &Site, request: &HttpRequest, wire: &Wire) -> io::Result<Option<Next>> {
    let Some(path) = site.server.options.scripts.text(Name::Connectors) else { return Ok(None) };
    if request.method != "GET" || request.path != "/v1/mcp_servers" {
        return Ok(None);
    }
    site.stats.count("catalogue");
    let pages = read(path);
    let page = request.query("page").and_then(|page| page.parse().ok()).unwrap_or(0);
    match pages.lines().nth(page) {
        Some(page) => wire.raw_json(200, &[], &Raw::new(page.replace("ORIGIN", &site.origin))).map(Some),
        None => wire.refuse(404, "no such page").map(Some),
    }
}

/// What a path means to the MCP server: a connector's, or an editor's, is the usual endpoint.
pub(crate) fn endpoint<'p>(site: &Site, path: &'p str) -> &'p str {
    let scripts = &site.server.options.scripts;
    let connector = scripts.has(Name::Connectors) && path.starts_with("/v1/mcp/");
    let editor = scripts.has(Name::Ide) && matches!(path, "/" | "/sse");
    if connector || editor { "/mcp" } else { path }
}
