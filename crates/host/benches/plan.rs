//! What it costs to plan a thousand servers: from declarations that were read, and from files on disk.
//!
//! The servers are what a large organization might have: local and remote in turn, each with variables to
//! expand, one in ten with a name that a stronger source takes, under a policy with rules of every kind.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a bench makes its own files, and cannot measure anything without them"
)]

use std::fs;
use std::path::Path;

use divan::{Bencher, black_box};
use mcparley::config::plan::{Enterprise, Plan, PlanContext, ServerDeclaration};
use mcparley::config::{Connector, ConnectorList, load_config};
use mcparley::model::approval::Provenance;
use mcparley::model::config::RawServer;
use mcparley::model::document::{JsonDocument, Node};
use mcparley::model::expand::Env;
use mcparley::model::name::ServerName;
use mcparley::model::scope::{Scope, Source};
use mcparley::model::settings::{MergedSettings, SettingsLayer};
use mcparley::{Paths, RunOptions};
use serde_json::{Map, Value, json};

const SERVERS: usize = 1000;
const PLUGINS: usize = 10;

fn main() {
    divan::main();
}

#[divan::bench]
fn declarations_of_seven_sources(bencher: Bencher) {
    let ground = ground(Enterprise::Absent);
    let all = declarations();
    bencher.with_inputs(|| all.clone()).bench_values(|all| Plan::from_declarations(all, black_box(&ground)));
}

#[divan::bench]
fn declarations_under_managed_servers(bencher: Bencher) {
    let ground = ground(Enterprise::Exclusive(Source::from_label("managed-mcp.json")));
    let all = declarations();
    bencher.with_inputs(|| all.clone()).bench_values(|all| Plan::from_declarations(all, black_box(&ground)));
}

#[divan::bench]
fn files_of_six_sources(bencher: Bencher) {
    bench_files(
        bencher,
        &[Scope::Connectors, Scope::Plugin, Scope::User, Scope::Project, Scope::Local, Scope::Dynamic],
    );
}

#[divan::bench]
fn files_of_seven_sources(bencher: Bencher) {
    bench_files(bencher, &Scope::ALL);
}

/// Writes the files of a user with servers from `scopes` and measures reading and planning them.
fn bench_files(bencher: Bencher, scopes: &[Scope]) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let home = folder.path();
    let project = home.join("project");
    fs::create_dir_all(project.join(".git")).expect("a project can be made");
    let mut paths = Paths::new(home, &project);
    paths.managed = home.join("managed");
    let of = |scope: Scope| entries(scope, scopes);
    let local = Map::from_iter([(paths.project_key(), wrapped(&of(Scope::Local)))]);
    let user = json!({ "mcpServers": of(Scope::User), "projects": local });
    write(&paths.claude.json, &user);
    write(&paths.user_settings(), &settings());
    write(&project.join(".mcp.json"), &wrapped(&of(Scope::Project)));
    if scopes.contains(&Scope::Enterprise) {
        write(&paths.managed.join("managed-mcp.json"), &wrapped(&of(Scope::Enterprise)));
    }
    let plugin_dirs = plugins(home, of(Scope::Plugin));
    let mcp_config = vec![wrapped(&of(Scope::Dynamic)).to_string()];
    let run_options = RunOptions { mcp_config, plugin_dirs, env: env(), ..RunOptions::default() };
    let connectors = of(Scope::Connectors).into_iter().map(connector).collect();
    let connectors = ConnectorList { connectors, ..ConnectorList::default() };
    let loaded = load_config(&paths, &run_options).with_connectors(&connectors);
    assert_eq!((loaded.plan.servers.len(), loaded.problems.len()), (SERVERS, 0), "{:?}", loaded.problems);
    bencher.bench_local(|| {
        load_config(black_box(&paths), black_box(&run_options)).with_connectors(black_box(&connectors))
    });
}

/// An organization's catalog that needs no network.
fn connector((name, _): (String, Value)) -> Connector {
    let url = format!("https://proxy.example.com/v1/{name}");
    Connector { id: format!("id-{name}"), name, url }
}

/// Spreads the servers over plugin folders.
fn plugins(home: &Path, servers: Map<String, Value>) -> Vec<std::path::PathBuf> {
    let servers: Vec<_> = servers.into_iter().collect();
    let plugin = |(index, servers): (usize, &[(String, Value)])| {
        let folder = home.join(format!("plugins/plugin-{index}"));
        write(&folder.join("plugin.json"), &json!({ "name": format!("plugin-{index}") }));
        write(&folder.join(".mcp.json"), &wrapped(&servers.iter().cloned().collect()));
        folder
    };
    servers.chunks(servers.len().div_ceil(PLUGINS)).enumerate().map(plugin).collect()
}

/// The declarations of all sources, as reading them would give them.
fn declarations() -> Vec<ServerDeclaration> {
    Scope::ALL.into_iter().flat_map(declarations_of).collect()
}

fn declarations_of(scope: Scope) -> Vec<ServerDeclaration> {
    let text = format!("{:#}", wrapped(&entries(scope, &Scope::ALL)));
    let source = Source::from_label(scope.as_str());
    let document = JsonDocument::parse(source, &text).expect("the bench writes JSON");
    let servers = document.root().and_then(|root| root.get("mcpServers")).and_then(Node::as_object);
    let declaration = |member: mcparley::model::document::Member<'_>| ServerDeclaration {
        name: ServerName::new(member.name),
        scope,
        provenance: if scope == Scope::Project { Provenance::Folder } else { Provenance::Own },
        origin: member.origin(),
        raw: RawServer::from_node(member.name, member.value),
        variables: match scope {
            Scope::Plugin => vec![("CLAUDE_PLUGIN_ROOT".to_owned(), "/plugins/one".to_owned())],
            _ => Vec::new(),
        },
    };
    servers.into_iter().flatten().map(declaration).collect()
}

fn ground(enterprise: Enterprise) -> PlanContext {
    let text = settings().to_string();
    let document = JsonDocument::parse(Source::from_label("settings"), &text).expect("the bench writes JSON");
    let mut settings = MergedSettings::default();
    settings.read_layer(document.root().expect("the settings are not empty"), SettingsLayer::User);
    PlanContext { settings, enterprise, env: env(), ..PlanContext::default() }
}

/// The share of `scope` when a thousand servers are spread over `scopes`.
fn entries(scope: Scope, scopes: &[Scope]) -> Map<String, Value> {
    let Some(position) = scopes.iter().position(|one| *one == scope) else { return Map::new() };
    let first = position * SERVERS / scopes.len();
    let end = (position + 1) * SERVERS / scopes.len();
    (first..end).map(|number| (name(scope, number - first), entry(number))).collect()
}

/// One name in ten stands in several sources.
fn name(scope: Scope, index: usize) -> String {
    if index.is_multiple_of(10) { format!("shared-{index}") } else { format!("{scope}-{index}") }
}

fn entry(number: usize) -> Value {
    if number.is_multiple_of(2) {
        return json!({
            "command": "npx",
            "args": ["-y", format!("@example/server-{number}"), "--root", "${WORKSPACE:-.}"],
            "env": { "API_KEY": "${API_KEY}", "LOG_LEVEL": "warn" }
        });
    }
    json!({
        "type": "http",
        "url": format!("https://server-{number}.example.com/mcp"),
        "headers": { "Authorization": "Bearer ${API_KEY}", "X-Team": "bench" }
    })
}

fn settings() -> Value {
    let denied: Vec<Value> = (0..10)
        .flat_map(|number| {
            [
                json!({ "serverName": format!("denied-{number}") }),
                json!({ "serverCommand": ["npx", "-y", format!("@denied/server-{number}")] }),
                json!({ "serverUrl": format!("https://*.denied-{number}.example.com/*") }),
            ]
        })
        .collect();
    let disabled: Vec<String> = (0..10).map(|number| format!("user-{number}")).collect();
    json!({ "deniedMcpServers": denied, "disabledMcpServers": disabled })
}

fn env() -> Env {
    let filler = (0..50).map(|number| (format!("VARIABLE_{number}"), "value".repeat(8)));
    filler.chain([("API_KEY".to_owned(), "secret".to_owned())]).collect()
}

fn wrapped(servers: &Map<String, Value>) -> Value {
    json!({ "mcpServers": servers })
}

fn write(path: &Path, content: &Value) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("a folder can be made");
    }
    fs::write(path, format!("{content:#}\n")).expect("a file can be written");
}
