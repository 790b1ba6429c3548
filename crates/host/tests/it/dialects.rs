//! The tools of real servers in the dialect of every API: the definitions are valid there, and the arguments
//! that a model writes are valid for the server.

#[path = "../../../catalog/src/dialect/tests/check.rs"]
pub(crate) mod check;
mod sample;

use std::fmt::Write as _;

use mcparley::catalog::{Budget, CatalogEntry, Dialect, ModelOffer, ModelTools};
use mcparley_testkit::program_path;
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, servers};
use crate::fleet_asks::installed;

/// Fewer than any API takes at once, so that all tools of a server are seen in several lists.
const AT_ONCE: usize = 100;

/// Servers that list their tools without a network.
fn fleet() -> [(&'static str, Value); 11] {
    let node = |script: &str, args: &[&str], env: Value| {
        let script = installed(&format!("npm/node_modules/.bin/{script}"));
        let args: Vec<&str> = std::iter::once(script.to_str().unwrap()).chain(args.iter().copied()).collect();
        json!({ "command": installed("npm/node"), "args": args, "env": env })
    };
    let demo = installed("../../fleet/demo_fastmcp.py");
    let python = |path: &str, args: Value| json!({ "command": installed(path), "args": args, "env": { "PYTHONDONTWRITEBYTECODE": "1" } });
    [
        ("everything", node("mcp-server-everything", &["stdio"], json!({}))),
        ("filesystem", node("mcp-server-filesystem", &["."], json!({}))),
        ("memory", node("mcp-server-memory", &[], json!({}))),
        ("github", node("mcp-server-github", &[], json!({ "GITHUB_PERSONAL_ACCESS_TOKEN": "none" }))),
        ("eslint", node("mcp", &[], json!({}))),
        ("mcpvault", node("mcpvault", &["."], json!({}))),
        ("postman", node("postman-mcp-server", &["--full"], json!({ "POSTMAN_API_KEY": "PMAK-none" }))),
        ("git", python("servers/bin/mcp-server-git", json!([]))),
        ("time", python("servers/bin/mcp-server-time", json!(["--local-timezone", "UTC"]))),
        ("fastmcp", python("fastmcp/bin/fastmcp", json!(["run", demo, "--no-banner"]))),
        ("rmcp", json!({ "command": program_path("mcparley-fleet-rmcp") })),
    ]
}

/// The result of a server's tools in one dialect.
#[derive(Default)]
struct Tally {
    rewritten: usize,
    withheld: Vec<String>,
    misfits: Vec<String>,
}

// N13 N8
#[tokio::test]
async fn fleet_tools_are_said_in_every_dialect_and_their_arguments_come_back() {
    let mut table = format!("{:<12}{:>6}", "server", "tools");
    for dialect in Dialect::ALL {
        write!(table, "{:>24}", dialect.as_str()).unwrap();
    }
    let mut all = Vec::new();
    let alive = servers(fleet()).variable("MCP_TIMEOUT", "120000").start();
    assert!(alive.host.wait_until_ready(LONG * 4).await.settled);
    for (name, _) in fleet() {
        let offer = of_server(&alive, name);
        write!(table, "\n{name:<12}{:>6}", offer.listed.len()).unwrap();
        assert!(!offer.listed.is_empty(), "{name}: {:?}", alive.status(name));
        for dialect in Dialect::ALL {
            let Tally { rewritten, withheld, misfits } = tally(dialect, &offer);
            assert_eq!(withheld, [""; 0], "{name} in {}", dialect.as_str());
            all.extend(misfits);
            write!(table, "{:>12} other {} none", rewritten, withheld.len()).unwrap();
        }
    }
    println!("{table}");
    assert_eq!(all, [""; 0]);
}

fn of_server(alive: &Alive, name: &str) -> ModelOffer {
    let mut offer = alive.host.publish_catalog().model_offer(&Budget::without_limit());
    offer.listed.retain(|entry| entry.server().is_some_and(|server| server.as_str() == name));
    offer
}

/// Every tool is valid for the API, and its arguments match the server's own schema.
fn tally(dialect: Dialect, offer: &ModelOffer) -> Tally {
    let mut tally = Tally::default();
    for entries in offer.listed.chunks(AT_ONCE) {
        let mut part = offer.clone();
        part.listed = entries.to_vec();
        let tools = part.for_model(dialect);
        let json: Value = serde_json::from_str(tools.tools.get()).unwrap();
        assert_eq!(check::complaints(dialect.as_str(), &json), [""; 0]);
        tally.rewritten += tools.rewritten_names().count();
        tally.withheld.extend(tools.withheld.iter().map(|(name, why)| format!("{name}: {why}")));
        let shown = check::schemas(dialect.as_str(), &json);
        assert_eq!(shown.len() + tools.withheld.len(), entries.len());
        for (name, schema) in shown {
            let entry = entries.iter().find(|entry| entry.name.as_str() == name).unwrap();
            tally.misfits.extend(misfits(dialect, &tools, entry, &schema));
        }
    }
    tally
}

/// A model fills in the shown schema; the tool gets valid arguments. Once with all fields, once with the
/// required ones.
fn misfits(dialect: Dialect, tools: &ModelTools, entry: &CatalogEntry, shown: &Value) -> Vec<String> {
    let own: Value = serde_json::from_str(entry.tool.input_schema.get()).unwrap();
    // Formats are the server's business, before a call too.
    let own = jsonschema::options().should_validate_formats(false).build(&own).unwrap();
    let mut misfits = Vec::new();
    for extent in [sample::Extent::All, sample::Extent::Required] {
        let written = sample::of(shown, extent);
        let call = tools.call(entry.name.as_str(), written.clone()).unwrap();
        let errors = own.iter_errors(&call.arguments);
        misfits.extend(errors.map(|error| {
            format!("{} in {}: {error} at {}: {written}", entry.name, dialect.as_str(), error.instance_path())
        }));
    }
    misfits
}
