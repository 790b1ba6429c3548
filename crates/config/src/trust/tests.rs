//! Trust store: accepted definitions, bindings and answers, and files that are not trusted.

use std::os::unix::fs::PermissionsExt;

use mcparley_model::config::RawServer;
use mcparley_model::document::JsonDocument;
use mcparley_model::expand::Env;
use mcparley_model::scope::{ConfigOrigin, Source};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;

fn config(entry: &Value) -> ServerConfig {
    let source = Source::from_label("entry");
    let text = entry.to_string();
    let document = JsonDocument::parse(source.clone(), &text).unwrap();
    let raw = RawServer::from_node("one", document.root().unwrap()).unwrap();
    raw.to_config(&Env::default(), &ConfigOrigin::for_source(source)).unwrap()
}

fn stdio(command: &str, args: &[&str]) -> ServerConfig {
    config(&json!({ "command": command, "args": args }))
}

fn tool(name: &str, description: &str) -> Arc<Tool> {
    let entry = json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
    Arc::new(Tool::parse(&to_raw_value(&entry).unwrap()).unwrap())
}

struct Home {
    folder: tempfile::TempDir,
    paths: Paths,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let mut paths = Paths::new(folder.path(), &project);
        paths.trust = Some(folder.path().join("trust"));
        Self { folder, paths }
    }

    /// The store as another process sees it.
    fn trust(&self) -> TrustStore {
        TrustStore::for_paths(&self.paths)
    }

    fn files(&self) -> Vec<PathBuf> {
        let all = std::fs::read_dir(self.folder.path().join("trust/tools")).unwrap();
        all.map(|entry| entry.unwrap().path()).collect()
    }
}

fn one() -> ServerName {
    ServerName::new("one")
}

// H09 B47
#[test]
fn first_seen_definition_is_accepted_and_later_ones_compared_with_it() {
    let home = Home::new();
    let server = stdio("serve", &[]);
    let changed = [ToolName::new("t")];
    assert!(home.trust().record_tools(&server, &one(), &[tool("t", "first")]).is_empty());
    assert_eq!(home.trust().record_tools(&server, &one(), &[tool("t", "second")]), changed);
    assert_eq!(home.trust().record_tools(&server, &one(), &[tool("t", "third"), tool("u", "new")]), changed);
    let change = home.trust().checker_for(&server).definition_change(&tool("t", "third")).unwrap();
    assert_eq!(change.lines, ["- description: first", "+ description: third"]);
    assert!(home.trust().checker_for(&server).definition_change(&tool("u", "new")).is_none());
    assert!(home.trust().checker_for(&server).definition_change(&tool("u", "other")).is_some());
}

// H09
#[test]
fn reviewed_definition_replaces_the_accepted_one() {
    let home = Home::new();
    let (trust, server) = (home.trust(), stdio("serve", &[]));
    trust.record_tools(&server, &one(), &[tool("t", "first")]);
    trust.accept_tool(&trust.checker_for(&server).key, &one(), &tool("t", "second")).unwrap();
    for trust in [trust, home.trust()] {
        assert!(trust.checker_for(&server).definition_change(&tool("t", "second")).is_none());
        assert!(trust.checker_for(&server).definition_change(&tool("t", "first")).is_some());
    }
}

// H09
#[test]
fn without_pinning_only_bound_tools_are_compared() {
    let home = Home::new();
    let (trust, server) = (home.trust(), stdio("serve", &[]));
    trust.set_pin(ToolPin::Off);
    trust.record_tools(&server, &one(), &[tool("t", "first"), tool("u", "first")]);
    assert!(!home.folder.path().join("trust").exists());
    let key = trust.checker_for(&server).key;
    for name in ["t", "u"] {
        trust.accept_tool(&key, &one(), &tool(name, "first")).unwrap();
    }
    let file = PathBuf::from("/settings.json");
    let binding = |tool: &str| RuleBinding {
        rule: format!("mcp__one__{tool}"),
        file: file.clone(),
        server: key.to_string(),
        tool: tool.to_owned(),
    };
    trust.bind_rules(vec![binding("t")]).unwrap();
    assert!(trust.checker_for(&server).definition_change(&tool("t", "second")).is_some());
    assert!(trust.checker_for(&server).definition_change(&tool("u", "second")).is_none());
    trust.unbind_rule("mcp__one__t", &file).unwrap();
    assert!(home.trust().rule_bindings().bindings_of("mcp__one__t", &file).next().is_none());
}

// P2
#[test]
fn answer_counts_only_for_the_same_definition() {
    let home = Home::new();
    let (trust, server, name) = (home.trust(), stdio("serve", &[]), ToolName::new("t"));
    let key = trust.checker_for(&server).key;
    let (first, second) = (tool("t", "first").definition_digest(), tool("t", "second").definition_digest());
    assert!(!trust.was_allowed(&key, &name, &first));
    let said = |allowed| ToolAnswer { definition: first.to_string(), allowed };
    trust.record_answer(&key, &one(), &name, said(true)).unwrap();
    assert!(home.trust().was_allowed(&key, &name, &first));
    assert!(!home.trust().was_allowed(&key, &name, &second));
    trust.record_answer(&key, &one(), &name, said(false)).unwrap();
    assert!(!home.trust().was_allowed(&key, &name, &first));
}

// H09 B27
#[test]
fn trust_key_covers_address_or_command_but_not_credentials() {
    let home = Home::new();
    let key = |entry: &Value| trust_key(&config(entry), &home.paths).to_string();
    let http =
        |url: &str, token: &str| json!({ "type": "http", "url": url, "headers": { "Authorization": token } });
    assert_eq!(key(&http("https://a.example/mcp", "1")), key(&http("https://a.example/mcp", "2")));
    assert_ne!(key(&http("https://a.example/mcp", "1")), key(&http("https://b.example/mcp", "1")));
    let command =
        |args: &[&str], token: &str| json!({ "command": "serve", "args": args, "env": { "TOKEN": token } });
    assert_eq!(key(&command(&["a"], "1")), key(&command(&["a"], "2")));
    assert_ne!(key(&command(&["ab", "c"], "1")), key(&command(&["a", "bc"], "1")));
}

// H09
// B37
#[test]
fn identity_covers_all_versions_of_a_package_but_not_other_arguments() {
    let home = Home::new();
    let trust = home.trust();
    let identity = |args: &[&str]| trust.server_key(&stdio("npx", args)).identity().to_owned();
    let first = identity(&["-y", "@scope/files@1.2.0", "/data"]);
    assert_eq!(identity(&["-y", "@scope/files@1.3.0", "/data"]), first);
    assert_eq!(identity(&["-y", "@scope/files", "/data"]), first);
    assert_ne!(identity(&["-y", "@scope/files@1.2.0", "/"]), first);
    assert_ne!(identity(&["-y", "@other/files@1.2.0", "/data"]), first);
    let [old, new] = ["1.2.0", "1.3.0"].map(|version| format!("@scope/files@{version}"));
    assert_ne!(
        trust.server_key(&stdio("npx", &[&old])).as_str(),
        trust.server_key(&stdio("npx", &[&new])).as_str()
    );
}

#[test]
fn command_with_a_project_file_gets_a_key_per_project() {
    let home = Home::new();
    let other = home.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    for folder in ["project", "other"] {
        file::store_cache_file(&home.folder.path().join(folder).join("server.py"), "").unwrap();
    }
    let elsewhere = Paths { project: other, ..home.paths.clone() };
    let is_same = |args: &[&str]| {
        let server = stdio("python", args);
        trust_key(&server, &home.paths) == trust_key(&server, &elsewhere)
    };
    assert!(is_same(&["-m", "server"]));
    assert!(!is_same(&["server.py"]));
}

// H09 B99
#[test]
fn files_are_private_and_untrusted_files_are_not_read() {
    let home = Home::new();
    let server = stdio("serve", &[]);
    home.trust().record_tools(&server, &one(), &[tool("t", "first")]);
    let [file] = &home.files()[..] else { panic!("one server, one file") };
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(home.trust().checker_for(&server).definition_change(&tool("t", "second")).is_some());
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(home.trust().checker_for(&server).definition_change(&tool("t", "second")).is_none());
}

// H09
#[test]
fn damaged_file_is_moved_aside_and_recreated() {
    let home = Home::new();
    let server = stdio("serve", &[]);
    home.trust().record_tools(&server, &one(), &[tool("t", "first")]);
    let [file] = &home.files()[..] else { panic!("one server, one file") };
    for damage in ["{", r#"{"format":9,"server":"one","tools":{}}"#] {
        mcparley_platform::file::store_cache_file(file, damage).unwrap();
        home.trust().record_tools(&server, &one(), &[tool("t", "second")]);
        assert!(home.trust().checker_for(&server).definition_change(&tool("t", "second")).is_none());
        assert!(home.trust().checker_for(&server).definition_change(&tool("t", "first")).is_some());
    }
    assert!(home.files().iter().any(|file| file.extension().is_some_and(|ending| ending == "damaged")));
}
