//! Every server of the fleet through every way to use mcparley: the library, the command line, and the gateway over
//! standard streams and HTTP, each with real processes.
//!
//! Each test compares or writes its row of `docs/compatibility.md`: `cargo xtask fleet --report` writes all of them.

mod more_servers;
mod sdk_examples;
mod ways;

use std::collections::BTreeSet;

use mcparley_testkit::ExternalServer;

use super::place::{Place, repository};
use super::servers::{
    EVERYTHING, EVERYTHING_HTTP, FASTMCP, FASTMCP_HTTP, FILESYSTEM, GIT, GITHUB, MEMORY, RMCP, Server, TIME,
    WS,
};
use more_servers::{ESLINT, EVERYTHING_SSE, FASTMCP_SSE, MCPVAULT, POSTMAN, SQLITE};
use sdk_examples::{
    SDK_COMPATIBLE, SDK_COMPATIBLE_SSE, SDK_FORM, SDK_JSON, SDK_POLLING, SDK_RESOURCES, SDK_SSE,
    SDK_STATELESS, SDK_STREAMABLE, SDK_TASKS,
};
use ways::{NAME, Steps};

const PAGE: &str = "docs/compatibility.md";

/// A server on one transport, and what is asked of it beside its tools.
struct FleetRow {
    /// The name and the pinned version.
    name: &'static str,
    transport: &'static str,
    server: &'static Server,
    /// The number of tools, where the server has too many to name them here.
    count: Option<usize>,
    /// The address of a resource, and a piece of its text.
    resource: Option<(&'static str, &'static str)>,
    prompt: Option<PromptStep>,
}

/// A prompt with its arguments, and a piece of its text.
struct PromptStep {
    name: &'static str,
    arguments: &'static [(&'static str, &'static str)],
    piece: &'static str,
}

impl FleetRow {
    const fn new(name: &'static str, transport: &'static str, server: &'static Server) -> Self {
        Self { name, transport, server, count: None, resource: None, prompt: None }
    }

    const fn with_resource(mut self, uri: &'static str, piece: &'static str) -> Self {
        self.resource = Some((uri, piece));
        self
    }

    const fn with_prompt(
        mut self,
        name: &'static str,
        arguments: &'static [(&'static str, &'static str)],
        piece: &'static str,
    ) -> Self {
        self.prompt = Some(PromptStep { name, arguments, piece });
        self
    }

    const fn with_tool_count(mut self, count: usize) -> Self {
        self.count = Some(count);
        self
    }

    /// The beginning of the row in the page.
    fn beginning(&self) -> String {
        format!("| {} | {} | {} |", self.name, self.transport, self.server.version)
    }

    /// Uses the server in every way, and compares or writes its row. A local server gets fresh files for each way.
    fn assert_compatible(&self) {
        let ways: [fn(&FleetRow, &Place) -> Steps; 4] = [
            ways::use_library,
            ways::use_command_line,
            ways::use_gateway_on_stdio,
            ways::use_gateway_over_http,
        ];
        let (mut place, mut running) = self.open_place();
        self.assert_protocol(&place);
        let mut cells = Vec::new();
        for way in ways {
            if running.is_none() {
                (place, running) = self.open_place();
            }
            cells.push(way(self, &place).to_cell(self));
            assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
        }
        assert_row(&self.beginning(), &cells);
    }

    /// A place where the server is configured; over HTTP it runs.
    fn open_place(&self) -> (Place, Option<ExternalServer>) {
        let place = Place::new();
        let (entry, running) = (self.server.entry)(&place);
        place.configure(NAME, &entry);
        (place, running)
    }

    /// The protocol revision of the row is the one that is negotiated.
    fn assert_protocol(&self, place: &Place) {
        let list = place.world.json(&["list"]);
        let servers = list["servers"].as_array().unwrap();
        let health = &servers.iter().find(|server| server["name"] == NAME).unwrap()["health"];
        assert_eq!(health["protocol"], self.server.version, "{health}");
    }
}

/// Compares a row with the one of the page, or writes it if that is asked for.
fn assert_row(beginning: &str, cells: &[String]) {
    let row = format!("{beginning} {} |", cells.join(" | "));
    let path = repository().join(PAGE);
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let found = page.lines().find(|line| line.starts_with(beginning));
    let found = found.unwrap_or_else(|| panic!("{PAGE} has no row that begins with `{beginning}`"));
    if std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some() {
        std::fs::write(&path, page.replace(found, &row)).unwrap();
    } else {
        assert_eq!(found, row, "`cargo xtask fleet --report` writes the page");
    }
}

/// The text of every resource of the SDK examples.
const GREETING: (&str, &str) = ("https://example.com/greetings/default", "Hello, world!");

const EVERYTHING_ROW: FleetRow = FleetRow::new("server-everything 2026.8.31", "stdio", &EVERYTHING)
    .with_resource("demo://resource/dynamic/text/1", "Resource 1: This is a plaintext resource")
    .with_prompt("args-prompt", &[("city", "Oslo")], "What's weather in Oslo");
const FASTMCP_ROW: FleetRow = FleetRow::new("FastMCP 4.1.2", "stdio", &FASTMCP)
    .with_resource("demo://text", "resource text")
    .with_prompt("greet", &[("name", "Ada")], "Greet Ada in a warm tone");

/// All rows of the page.
const ROWS: [FleetRow; 27] = [
    EVERYTHING_ROW,
    FleetRow { transport: "HTTP", server: &EVERYTHING_HTTP, ..EVERYTHING_ROW },
    FleetRow { transport: "HTTP+SSE", server: &EVERYTHING_SSE, ..EVERYTHING_ROW },
    FleetRow::new("server-filesystem 2026.8.31", "stdio", &FILESYSTEM),
    FleetRow::new("server-memory 2026.8.31", "stdio", &MEMORY),
    FleetRow::new("server-github 2025.4.8", "stdio", &GITHUB),
    FleetRow::new("mcp-server-git 2026.10.19", "stdio", &GIT),
    FleetRow::new("mcp-server-time 2026.10.19", "stdio", &TIME),
    FleetRow::new("mcp-server-sqlite 2025.4.25", "stdio", &SQLITE)
        .with_resource("memo://insights", "No business insights")
        .with_prompt("mcp-demo", &[("topic", "ships")], "ships"),
    FleetRow::new("@eslint/mcp 0.3.13", "stdio", &ESLINT),
    FleetRow::new("postman-mcp-server 2.13.0", "stdio", &POSTMAN).with_tool_count(204),
    FleetRow::new("mcpvault 0.16.0", "stdio", &MCPVAULT),
    FASTMCP_ROW,
    FleetRow { transport: "HTTP", server: &FASTMCP_HTTP, ..FASTMCP_ROW },
    FleetRow { transport: "HTTP+SSE", server: &FASTMCP_SSE, ..FASTMCP_ROW },
    FleetRow::new("Python SDK 1.30.0", "WebSocket", &WS),
    FleetRow::new("rmcp 3.8.0", "stdio", &RMCP),
    FleetRow::new("TypeScript SDK 1.32.2, `simpleStreamableHttp`", "HTTP", &SDK_STREAMABLE)
        .with_resource(GREETING.0, GREETING.1)
        .with_prompt("greeting-template", &[("name", "Ada")], "Please greet Ada"),
    FleetRow::new("TypeScript SDK 1.32.2, `simpleStatelessStreamableHttp`", "HTTP", &SDK_STATELESS)
        .with_resource(GREETING.0, GREETING.1)
        .with_prompt("greeting-template", &[("name", "Ada")], "Please greet Ada"),
    FleetRow::new("TypeScript SDK 1.32.2, `jsonResponseStreamableHttp`", "HTTP", &SDK_JSON),
    FleetRow::new("TypeScript SDK 1.32.2, `standaloneSseWithGetStreamableHttp`", "HTTP", &SDK_RESOURCES),
    FleetRow::new("TypeScript SDK 1.32.2, `ssePollingExample`", "HTTP", &SDK_POLLING),
    FleetRow::new("TypeScript SDK 1.32.2, `elicitationFormExample`", "HTTP", &SDK_FORM),
    FleetRow::new("TypeScript SDK 1.32.2, `simpleTaskInteractive`", "HTTP", &SDK_TASKS),
    FleetRow::new("TypeScript SDK 1.32.2, `simpleSseServer`", "HTTP+SSE", &SDK_SSE),
    FleetRow::new("TypeScript SDK 1.32.2, `sseAndStreamableHttpCompatibleServer`", "HTTP", &SDK_COMPATIBLE),
    FleetRow::new(
        "TypeScript SDK 1.32.2, `sseAndStreamableHttpCompatibleServer`",
        "HTTP+SSE",
        &SDK_COMPATIBLE_SSE,
    ),
];

/// The rows of the servers whose name begins like this; a name that matches nothing fails.
fn assert_rows(name: &str) {
    let rows: Vec<&FleetRow> = ROWS.iter().filter(|row| row.name.starts_with(name)).collect();
    assert!(!rows.is_empty(), "no row is called `{name}`");
    rows.iter().for_each(|row| row.assert_compatible());
}

// T9
#[test]
fn fleet_compatibility_page_has_the_rows_of_the_table_and_no_others() {
    let page = std::fs::read_to_string(repository().join(PAGE)).unwrap();
    let table = page.lines().skip_while(|line| !line.starts_with("| server | transport |")).skip(2);
    let beginning = |line: &str| line.split_inclusive('|').take(4).collect::<String>();
    let found: Vec<String> = table.take_while(|line| line.starts_with('|')).map(beginning).collect();
    assert_eq!(found, ROWS.iter().map(FleetRow::beginning).collect::<Vec<_>>());
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), ROWS.len());
}

// T1 T3 T9 X1 X3 G7
#[test]
fn fleet_compatibility_of_everything() {
    assert_rows("server-everything");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_filesystem() {
    assert_rows("server-filesystem");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_memory() {
    assert_rows("server-memory");
}

// T1 T9 G7: the oldest revision that is still in use.
#[test]
fn fleet_compatibility_of_github() {
    assert_rows("server-github");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_git() {
    assert_rows("mcp-server-git");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_time() {
    assert_rows("mcp-server-time");
}

// T1 T9 X1 X3 G7
#[test]
fn fleet_compatibility_of_sqlite() {
    assert_rows("mcp-server-sqlite");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_eslint() {
    assert_rows("@eslint/mcp");
}

// T1 T9 G7: hundreds of tools.
#[test]
fn fleet_compatibility_of_postman() {
    assert_rows("postman");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_mcpvault() {
    assert_rows("mcpvault");
}

// T1 T3 T9 X1 X3 G7
#[test]
fn fleet_compatibility_of_fastmcp() {
    assert_rows("FastMCP");
}

// T4 T9 G7
#[test]
fn fleet_compatibility_of_python_sdk_over_a_socket() {
    assert_rows("Python SDK");
}

// T1 T9 G7
#[test]
fn fleet_compatibility_of_rmcp() {
    assert_rows("rmcp");
}

// T3 T9 X1 X3 G7: Streamable HTTP and HTTP+SSE in their variants.
#[test]
fn fleet_compatibility_of_typescript_sdk_examples() {
    assert_rows("TypeScript SDK");
}
