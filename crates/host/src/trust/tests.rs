//! What is kept about tools, and what is not believed.

use std::os::unix::fs::PermissionsExt;

use mcparley_model::config::RawServer;
use mcparley_model::document::Document;
use mcparley_model::expand::Env;
use mcparley_model::scope::{Origin, Source};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;

fn config(entry: &Value) -> ServerConfig {
    let source = Source::inline("entry");
    let text = entry.to_string();
    let document = Document::parse(source.clone(), &text).unwrap();
    let raw = RawServer::read("one", document.root().unwrap()).unwrap();
    raw.to_config(&Env::default(), &Origin::whole(source)).unwrap()
}

fn stdio(command: &str, args: &[&str]) -> ServerConfig {
    config(&json!({ "command": command, "args": args }))
}

fn tool(name: &str, description: &str) -> Arc<Tool> {
    let entry = json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
    Arc::new(Tool::read(&to_raw_value(&entry).unwrap()).unwrap())
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
        let mut paths = Paths::of(folder.path(), &project);
        paths.trust = Some(folder.path().join("trust"));
        Self { folder, paths }
    }

    /// As a process of its own sees it.
    fn trust(&self) -> Trust {
        Trust::of(&self.paths)
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
fn what_was_met_first_is_trusted_and_compared_with_ever_after() {
    let home = Home::new();
    let server = stdio("serve", &[]);
    let changed = [ToolName::new("t")];
    assert!(home.trust().meet(&server, &one(), &[tool("t", "first")]).is_empty());
    assert_eq!(home.trust().meet(&server, &one(), &[tool("t", "second")]), changed);
    assert_eq!(home.trust().meet(&server, &one(), &[tool("t", "third"), tool("u", "new")]), changed);
    let change = home.trust().judge(&server).change(&tool("t", "third")).unwrap();
    assert_eq!(change.lines, ["- description: first", "+ description: third"]);
    assert!(home.trust().judge(&server).change(&tool("u", "new")).is_none());
    assert!(home.trust().judge(&server).change(&tool("u", "other")).is_some());
}

// H09
#[test]
fn a_tool_that_was_accepted_is_what_others_are_compared_with() {
    let home = Home::new();
    let (trust, server) = (home.trust(), stdio("serve", &[]));
    trust.meet(&server, &one(), &[tool("t", "first")]);
    trust.accept(&trust.judge(&server).key, &one(), &tool("t", "second")).unwrap();
    for trust in [trust, home.trust()] {
        assert!(trust.judge(&server).change(&tool("t", "second")).is_none());
        assert!(trust.judge(&server).change(&tool("t", "first")).is_some());
    }
}

// H09
#[test]
fn without_pins_nothing_is_met_and_only_bound_tools_are_compared() {
    let home = Home::new();
    let (trust, server) = (home.trust(), stdio("serve", &[]));
    trust.follow(Pin::Off);
    trust.meet(&server, &one(), &[tool("t", "first"), tool("u", "first")]);
    assert!(!home.folder.path().join("trust").exists());
    let key = trust.judge(&server).key;
    for name in ["t", "u"] {
        trust.accept(&key, &one(), &tool(name, "first")).unwrap();
    }
    let file = PathBuf::from("/settings.json");
    let binding = |tool: &str| Binding {
        rule: format!("mcp__one__{tool}"),
        file: file.clone(),
        server: key.to_string(),
        tool: tool.to_owned(),
    };
    trust.bind(vec![binding("t")]).unwrap();
    assert!(trust.judge(&server).change(&tool("t", "second")).is_some());
    assert!(trust.judge(&server).change(&tool("u", "second")).is_none());
    trust.unbind("mcp__one__t", &file).unwrap();
    assert!(home.trust().ledger().of("mcp__one__t", &file).next().is_none());
}

// P2
#[test]
fn only_a_yes_to_the_same_definition_is_one() {
    let home = Home::new();
    let (trust, server, name) = (home.trust(), stdio("serve", &[]), ToolName::new("t"));
    let key = trust.judge(&server).key;
    let (first, second) = (tool("t", "first").definition(), tool("t", "second").definition());
    assert!(!trust.was_allowed(&key, &name, &first));
    let said = |allowed| Said { definition: first.to_string(), allowed };
    trust.note(&key, &one(), &name, said(true)).unwrap();
    assert!(home.trust().was_allowed(&key, &name, &first));
    assert!(!home.trust().was_allowed(&key, &name, &second));
    trust.note(&key, &one(), &name, said(false)).unwrap();
    assert!(!home.trust().was_allowed(&key, &name, &first));
}

// H09 B27
#[test]
fn a_server_is_its_address_or_its_command_and_not_its_credentials() {
    let home = Home::new();
    let key = |entry: &Value| Key::of(&config(entry), &home.paths).to_string();
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
fn rules_see_one_server_in_all_releases_of_a_package_but_not_in_other_arguments() {
    let home = Home::new();
    let trust = home.trust();
    let identity = |args: &[&str]| trust.key(&stdio("npx", args)).identity().to_owned();
    let first = identity(&["-y", "@scope/files@1.2.0", "/data"]);
    assert_eq!(identity(&["-y", "@scope/files@1.3.0", "/data"]), first);
    assert_eq!(identity(&["-y", "@scope/files", "/data"]), first);
    assert_ne!(identity(&["-y", "@scope/files@1.2.0", "/"]), first);
    assert_ne!(identity(&["-y", "@other/files@1.2.0", "/data"]), first);
    let [old, new] = ["1.2.0", "1.3.0"].map(|version| format!("@scope/files@{version}"));
    assert_ne!(trust.key(&stdio("npx", &[&old])).as_str(), trust.key(&stdio("npx", &[&new])).as_str());
}

#[test]
fn a_command_that_names_a_file_of_the_project_is_the_projects() {
    let home = Home::new();
    let other = home.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    for folder in ["project", "other"] {
        file::store(&home.folder.path().join(folder).join("server.py"), "").unwrap();
    }
    let elsewhere = Paths { project: other, ..home.paths.clone() };
    let is_same = |args: &[&str]| {
        let server = stdio("python", args);
        Key::of(&server, &home.paths) == Key::of(&server, &elsewhere)
    };
    assert!(is_same(&["-m", "server"]));
    assert!(!is_same(&["server.py"]));
}

// H09 B99
#[test]
fn what_is_kept_is_private_and_what_others_could_write_is_not_read() {
    let home = Home::new();
    let server = stdio("serve", &[]);
    home.trust().meet(&server, &one(), &[tool("t", "first")]);
    let [file] = &home.files()[..] else { panic!("one server, one file") };
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(home.trust().judge(&server).change(&tool("t", "second")).is_some());
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(home.trust().judge(&server).change(&tool("t", "second")).is_none());
}

// H09
#[test]
fn a_damaged_file_is_set_aside_and_begun_anew() {
    let home = Home::new();
    let server = stdio("serve", &[]);
    home.trust().meet(&server, &one(), &[tool("t", "first")]);
    let [file] = &home.files()[..] else { panic!("one server, one file") };
    for damage in ["{", r#"{"format":9,"server":"one","tools":{}}"#] {
        mcparley_platform::file::store(file, damage).unwrap();
        home.trust().meet(&server, &one(), &[tool("t", "second")]);
        assert!(home.trust().judge(&server).change(&tool("t", "second")).is_none());
        assert!(home.trust().judge(&server).change(&tool("t", "first")).is_some());
    }
    assert!(home.files().iter().any(|file| file.extension().is_some_and(|ending| ending == "damaged")));
}
