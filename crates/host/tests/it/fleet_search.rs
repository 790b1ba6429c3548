//! Quality of the tool search: typical queries against the tools of real servers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcparley::catalog::{Catalog, CatalogEntry, SearchQuery};
use mcparley::model::name::{ServerName, ToolName};
use serde_json::{Value, json};

use crate::alive::{LONG, servers};
use crate::fleet_asks::installed;

const QUERIES: &str = include_str!("fleet_search/queries.tsv");

/// The number of queries, of a hundred, that must find their tool among the first eight, which is a usual answer.
const ENOUGH: usize = 90;

/// Ten servers that list their tools without a network.
fn fleet() -> [(&'static str, Value); 10] {
    let node = |script: &str, args: &[&str], env: Value| {
        let script = installed(&format!("npm/node_modules/.bin/{script}"));
        let args: Vec<&str> = std::iter::once(script.to_str().unwrap()).chain(args.iter().copied()).collect();
        json!({ "command": installed("npm/node"), "args": args, "env": env })
    };
    let demo = installed("../../fleet/demo_fastmcp.py");
    let program = |path: &str, args: Value| json!({ "command": installed(path), "args": args });
    [
        ("everything", node("mcp-server-everything", &["stdio"], json!({}))),
        ("filesystem", node("mcp-server-filesystem", &["."], json!({}))),
        ("memory", node("mcp-server-memory", &[], json!({}))),
        ("github", node("mcp-server-github", &[], json!({ "GITHUB_PERSONAL_ACCESS_TOKEN": "dummy" }))),
        ("eslint", node("mcp", &[], json!({}))),
        ("mcpvault", node("mcpvault", &["."], json!({}))),
        ("postman", node("postman-mcp-server", &["--full"], json!({ "POSTMAN_API_KEY": "PMAK-dummy" }))),
        ("git", program("servers/bin/mcp-server-git", json!([]))),
        ("time", program("servers/bin/mcp-server-time", json!(["--local-timezone", "UTC"]))),
        ("fastmcp", program("fastmcp/bin/fastmcp", json!(["run", demo, "--no-banner"]))),
    ]
}

struct Row<'q> {
    query: &'q str,
    wanted: Vec<&'q CatalogEntry>,
}

impl<'q> Row<'q> {
    fn read(line: &'q str, catalog: &'q Catalog) -> Self {
        let [server, tools, query] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let of = |server: &str, tool: &str| catalog.find_tool(&ServerName::new(server), &ToolName::new(tool));
        let entry = |name: &str| {
            let elsewhere = || name.split_once('.').and_then(|(server, tool)| of(server, tool));
            of(server, name).or_else(elsewhere).unwrap_or_else(|| panic!("{server} has no {name}")).as_ref()
        };
        Self { query, wanted: tools.split('|').map(entry).collect() }
    }

    /// Where the first of the tools that were meant stands.
    fn rank(&self, catalog: &Catalog) -> Option<usize> {
        let found = catalog.search_tools(&SearchQuery::new(self.query)).tools;
        let is_wanted = |entry: &CatalogEntry| self.wanted.iter().any(|wanted| wanted.name == entry.name);
        found.iter().position(|entry| is_wanted(entry)).map(|place| place + 1)
    }
}

// N10
#[tokio::test]
async fn fleet_tools_are_found_by_typical_queries() {
    let alive = servers(fleet()).variable("MCP_TIMEOUT", "120000").start();
    let readiness = alive.host.wait_until_ready(LONG * 4).await;
    assert_eq!(readiness.servers.len(), fleet().len() + 1, "with our own");
    for server in &readiness.servers {
        assert_eq!(server.state.status.as_str(), "connected", "{}: {:?}", server.name, server.state.status);
    }
    let catalog = alive.host.publish_catalog();
    let lines = QUERIES.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Row<'_>> = lines.map(|line| Row::read(line, &catalog)).collect();
    let mut paths: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    let mut table = String::new();
    for row in &rows {
        let rank = row.rank(&catalog);
        *paths.entry(rank).or_default() += 1;
        let shown = rank.map_or("-".to_owned(), |rank| rank.to_string());
        writeln!(table, "{shown:>2}  {:<55} {}", row.query, row.wanted[0].name).unwrap();
    }
    let found = rows.len() - paths.get(&None).copied().unwrap_or_default();
    println!("{table}{found} of {} among the first eight, by place: {paths:?}", rows.len());
    assert!(rows.len() >= 100);
    assert!(found * 100 >= rows.len() * ENOUGH, "{table}{found} of {}", rows.len());
}
