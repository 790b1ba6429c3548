//! Servers that only the compatibility page needs, and servers on a transport that only this page uses.

use std::path::Path;
use std::process::Command;

use mcparley_testkit::ExternalServer;
use serde_json::{Value, json};

use crate::fleet::place::{Place, installed, repository};
use crate::fleet::servers::{Call, EVERYTHING, FASTMCP, LAST_OLD, NEWEST, Server, node, text, works};

pub(super) const EVERYTHING_SSE: Server = Server {
    entry: |place| {
        let script = text(installed("npm/node_modules/.bin/mcp-server-everything"));
        serve_sse(place, &installed("npm/node"), &[&script, "sse"], |command, port| {
            command.env("PORT", port);
        })
    },
    ..EVERYTHING
};

/// Over HTTP+SSE it greets in the old way, because that transport has no other.
pub(super) const FASTMCP_SSE: Server = Server {
    entry: |place| {
        let demo = text(repository().join("fleet/demo_fastmcp.py"));
        let words = ["run", &demo, "--no-banner", "--transport", "sse", "--host", "127.0.0.1"];
        serve_sse(place, &installed("fastmcp/bin/fastmcp"), &words, |command, port| {
            command.args(["--port", port]).env("PYTHONDONTWRITEBYTECODE", "1");
        })
    },
    version: LAST_OLD,
    ..FASTMCP
};

pub(super) const SQLITE: Server = Server {
    entry: |place| {
        let file = text(place.work().join("test.db"));
        (place.stdio(&installed("ws/bin/mcp-server-sqlite"), &["--db-path", &file], &[]), None)
    },
    version: LAST_OLD,
    old_version: None,
    tools: &["append_insight", "create_table", "describe_table", "list_tables", "read_query", "write_query"],
    tools_by_capability: &[],
    calls: &[works("read_query", &["query=select 40 + 2 as sum"], "42")],
};

pub(super) const ESLINT: Server = Server {
    entry: |place| {
        let rules = "export default [{ rules: { eqeqeq: \"error\" } }];\n";
        place.world.write("home/project/eslint.config.mjs", rules);
        place.world.write("home/project/bad.js", "export const same = (a, b) => a == b;\n");
        (node(place, "mcp", &[], &[]), None)
    },
    version: LAST_OLD,
    old_version: None,
    tools: &["lint-files"],
    tools_by_capability: &[],
    calls: &[works("lint-files", &[r#"filePaths:=["{work}/bad.js"]"#], "eqeqeq")],
};

/// Its tools are named nowhere here; each needs the network, so none is called.
pub(super) const POSTMAN: Server = Server {
    entry: |place| {
        (node(place, "postman-mcp-server", &["--full"], &[("POSTMAN_API_KEY", "PMAK-none")]), None)
    },
    version: LAST_OLD,
    old_version: None,
    tools: &["createCollection", "getWorkspaces"],
    tools_by_capability: &[],
    calls: NO_CALLS,
};

pub(super) const MCPVAULT: Server = Server {
    entry: |place| {
        place.world.write("home/project/notes/Alpha.md", "# Alpha\n\nIt links to [[Beta]].\n");
        (node(place, "mcpvault", &[&text(place.work().join("notes"))], &[]), None)
    },
    version: NEWEST,
    old_version: Some(LAST_OLD),
    tools: &[
        "delete_note",
        "get_frontmatter",
        "get_note_outline",
        "get_notes_info",
        "get_vault_stats",
        "list_all_tags",
        "list_directory",
        "manage_tags",
        "move_file",
        "move_note",
        "patch_note",
        "read_multiple_notes",
        "read_note",
        "read_note_lines",
        "search_notes",
        "update_frontmatter",
        "wiki_link",
        "write_note",
    ],
    tools_by_capability: &[],
    calls: &[works("read_note", &["path=Alpha.md"], "links to")],
};

pub(super) const NO_CALLS: &[Call] = &[];

/// Starts a program that serves HTTP+SSE at `/sse`.
pub(super) fn serve_sse(
    place: &Place,
    program: &Path,
    words: &[&str],
    adjust: impl FnOnce(&mut Command, &str),
) -> (Value, Option<ExternalServer>) {
    let (_, server) = place.http(program, words, adjust);
    let entry = json!({ "type": "sse", "url": format!("http://{}/sse", server.address()) });
    (entry, Some(server))
}
