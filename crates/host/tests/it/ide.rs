//! Editors, found through their lock files: which are trusted, which is chosen, and the tools a model gets.

use std::path::Path;
use std::time::{Duration, SystemTime};

use mcparley::config::EditorChoice;
use mcparley::model::name::ServerName;
use mcparley::{Call, HostBuilder};
use mcparley_testkit::{HttpServer, log_lines};
use serde_json::{Value, json};

use crate::world::{World, chmod};

/// A timeout longer than any step here takes.
const LONG: Duration = Duration::from_secs(10);

/// The lock file of a running editor that has `folder` open.
fn lock(folder: &Path) -> Value {
    json!({
        "pid": std::process::id(),
        "workspaceFolders": [folder],
        "ideName": "Ed",
        "transport": "sse",
        "authToken": "key-1",
    })
}

fn with(mut lock: Value, key: &str, value: Value) -> Value {
    lock[key] = value;
    lock
}

/// Writes a lock file as editors do.
fn write(world: &World, name: &str, text: &str) {
    let path = format!("home/.claude/ide/{name}");
    world.write(&path, text);
    chmod(&world.path(&path), 0o600);
}

fn world() -> World {
    let mut world = World::new();
    world.run_options.ide = Some(EditorChoice::Nearest);
    world
}

fn project(world: &World) -> Value {
    lock(&world.path("home/project"))
}

// T6
#[test]
fn an_editor_with_the_folder_open_is_a_server_of_this_run() {
    for (transport, line) in
        [(json!("sse"), "sse-ide http://127.0.0.1:4321/sse"), (json!("ws"), "ws-ide ws://127.0.0.1:4321")]
    {
        let world = world();
        write(&world, "4321.lock", &with(project(&world), "transport", transport).to_string());
        assert_eq!(world.table(), ["dynamic ide ready"]);
        assert_eq!(world.problems(), Vec::<String>::new());
        let loaded = world.load();
        let raw = loaded.plan.servers[0].raw.as_ref().unwrap();
        let shown =
            raw.to_displayed(loaded.plan.servers[0].kind, mcparley::model::config::SecretVisibility::Masked);
        assert_eq!(format!("{} {}", shown.kind.unwrap(), shown.url.as_ref().unwrap()), line);
        let printed = serde_json::to_string(&shown).unwrap();
        assert!(!printed.contains("key-1"), "{printed}");
    }
}

// T6
#[test]
fn editors_are_searched_only_when_requested() {
    let mut world = world();
    write(&world, "4321.lock", "not JSON");
    world.run_options.ide = None;
    assert_eq!((world.table(), world.problems()), (vec![], vec![]));
    world.run_options.ide = Some(EditorChoice::Port(4322));
    assert_eq!((world.table(), world.problems()), (vec![], vec![]), "another editor's file is not looked at");
}

// H32 B98 T6
#[test]
fn untrustworthy_lock_file_is_rejected_with_the_reason() {
    let good = |world: &World| project(world);
    let refused = |name: &str, text: &dyn Fn(&World) -> String, mode: u32| {
        let world = world();
        write(&world, name, &text(&world));
        chmod(&world.path(&format!("home/.claude/ide/{name}")), mode);
        assert_eq!(world.table(), Vec::<String>::new(), "{name}");
        let problems = world.problems();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(problems[1], "home/.claude/ide: no editor has this folder open");
        let why = problems[0].strip_prefix(&format!("home/.claude/ide/{name}: ")).unwrap();
        why.strip_prefix("cannot connect to the editor: ").unwrap_or(why).to_owned()
    };
    let text =
        |key: &'static str, value: Value| move |w: &World| with(good(w), key, value.clone()).to_string();
    let whole = |w: &World| good(w).to_string();
    let open = "`home/.claude/ide/1.lock` is open to other users (mode 644)";
    assert_eq!(refused("1.lock", &whole, 0o644), open);
    assert!(refused("1.lock", &whole, 0o640).ends_with("(mode 640)"));
    assert_eq!(refused("1.lock", &text("authToken", Value::Null), 0o600), "it has no `authToken`");
    assert_eq!(refused("1.lock", &text("authToken", json!("")), 0o600), "it has no `authToken`");
    assert_eq!(
        refused("1.lock", &text("authToken", json!("${HOME}")), 0o600),
        "its `authToken` has invalid characters"
    );
    assert_eq!(
        refused("1.lock", &text("authToken", json!("a\r\nb")), 0o600),
        "its `authToken` has invalid characters"
    );
    assert_eq!(refused("1.lock", &|_| "{".to_owned(), 0o600), "it is not JSON");
    assert_eq!(refused("1.lock", &text("pid", json!("x")), 0o600), "its `pid` is not a process id");
    assert_eq!(
        refused("1.lock", &text("transport", json!("tcp")), 0o600),
        "its `transport` is neither `ws` nor `sse`"
    );
    for name in ["x.lock", "0.lock", "65536.lock", "-1.lock"] {
        assert_eq!(refused(name, &whole, 0o600), "its name is not a port", "{name}");
    }
    let large = |w: &World| with(good(w), "more", json!("x".repeat(64 * 1024))).to_string();
    assert!(refused("1.lock", &large, 0o600).ends_with("is larger than 65536 bytes"));
}

// H32 B98
#[test]
fn a_link_to_a_lock_file_is_refused() {
    let world = world();
    write(&world, "kept", &project(&world).to_string());
    let folder = world.path("home/.claude/ide");
    std::os::unix::fs::symlink(folder.join("kept"), folder.join("1.lock")).unwrap();
    assert_eq!(world.table(), Vec::<String>::new());
    assert_eq!(world.problems()[0], "home/.claude/ide/1.lock: `home/.claude/ide/1.lock` is a symbolic link");
}

// T6
#[test]
fn editor_that_is_gone_or_has_other_folders_open_is_skipped_with_a_note() {
    let world = world();
    let mut child = std::process::Command::new("/bin/true").spawn().unwrap();
    let gone = child.id();
    child.wait().unwrap();
    write(&world, "1.lock", &with(project(&world), "pid", json!(gone)).to_string());
    write(&world, "2.lock", &with(lock(Path::new("/usr")), "ideName", json!("Other")).to_string());
    let loaded = world.load();
    assert_eq!(world.lines(&loaded), Vec::<String>::new());
    let told = format!("Ed (process {gone}) is gone; Other has other folders open");
    assert_eq!(loaded.problems[0].hint.as_deref(), Some(told.as_str()));
    // With another editor there, they are notes of its declaration.
    write(&world, "3.lock", &project(&world).to_string());
    let loaded = world.load();
    assert_eq!(loaded.problems.len(), 0);
    let notes: Vec<String> = loaded.plan.servers[0].hints.iter().map(|hint| hint.text.clone()).collect();
    assert_eq!(notes.join("; "), told);
    // Of a process on another system nothing can be known.
    write(
        &world,
        "1.lock",
        &with(with(project(&world), "pid", json!(gone)), "runningInWindows", json!(true)).to_string(),
    );
    assert_eq!(world.table().len(), 2);
}

// T6
#[test]
fn of_several_editors_the_nearest_wins_then_the_newest_and_the_others_are_shown() {
    let world = world().standing_in("home/project/sub");
    std::fs::create_dir_all(world.path("home/project/sub/deep")).unwrap();
    let at = |folder: &str| lock(&world.path(folder)).to_string();
    write(&world, "1.lock", &at("home/project/sub/deep"));
    write(&world, "2.lock", &at("home"));
    write(&world, "3.lock", &at("home/project"));
    let wins = |port: u16| {
        let by = format!("home/.claude/ide/{port}.lock declares the same name and wins");
        let table = world.table();
        let losers = table.iter().filter(|line| **line == format!("dynamic ide shadowed: {by}")).count();
        assert_eq!((losers, table.last().map(String::as_str)), (table.len() - 1, Some("dynamic ide ready")));
    };
    wins(3);
    let aged = |name: &str, seconds: u64| {
        let file = std::fs::File::options().write(true).open(world.path(&format!("home/.claude/ide/{name}")));
        file.unwrap().set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    write(&world, "4.lock", &at("home/project"));
    aged("3.lock", 50);
    aged("4.lock", 100);
    wins(3);
    aged("4.lock", 10);
    wins(4);
    write(
        &world,
        "5.lock",
        &with(lock(Path::new("/usr")), "workspaceFolders", json!(["/usr", world.path("home/project/sub")]))
            .to_string(),
    );
    wins(5);
}

// T6 C9
#[test]
fn policy_and_settings_apply_to_editors_like_all_servers() {
    let world = world();
    write(&world, "4321.lock", &project(&world).to_string());
    world.write(
        "managed/managed-settings.json",
        r#"{"deniedMcpServers": [{"serverUrl": "http://127.0.0.1:*/*"}]}"#,
    );
    assert!(world.table()[0].starts_with("dynamic ide blocked: denied by policy"), "{:?}", world.table());
    world.write("managed/managed-settings.json", r#"{"allowedMcpServers": []}"#);
    assert!(world.table()[0].starts_with("dynamic ide blocked"), "{:?}", world.table());
    std::fs::remove_file(world.path("managed/managed-settings.json")).unwrap();
    world.write("home/.claude/settings.json", r#"{"disabledMcpServers": ["ide"]}"#);
    assert!(world.table()[0].starts_with("dynamic ide disabled"), "{:?}", world.table());
    world.write("managed/managed-mcp.json", "{}");
    assert!(world.table()[0].starts_with("dynamic ide blocked"), "{:?}", world.table());
}

// T6
#[test]
fn server_of_the_command_line_wins_over_the_editor() {
    let mut world = world();
    write(&world, "4321.lock", &project(&world).to_string());
    world.run_options.mcp_config = vec![r#"{"mcpServers": {"ide": {"command": "x"}}}"#.to_owned()];
    assert!(world.table()[0].starts_with("dynamic ide shadowed"), "{:?}", world.table());
}

/// A running editor, its lock file, and the log of received messages.
fn editor(world: &World, transport: &str, token: &str, written: &str) -> HttpServer {
    let log = world.path("log");
    let script = format!("ide:{token}");
    let scripts = if transport == "sse" { vec!["legacy-sse-only", &script] } else { vec![script.as_str()] };
    let server = HttpServer::start_with(&scripts, &["--log", &log.to_string_lossy()]);
    let port = server.address().rsplit(':').next().unwrap();
    let lock = with(with(project(world), "pid", json!(server.id())), "authToken", json!(written));
    let lock = with(lock, "transport", json!(transport));
    write(world, &format!("{port}.lock"), &lock.to_string());
    server
}

// T6 B98 R6
#[tokio::test]
async fn an_editor_gets_its_token_and_no_origin_and_a_model_gets_two_of_its_tools() {
    for transport in ["sse", "ws"] {
        let mut world = world();
        world.run_options.allowed_tools = vec!["mcp__ide".into()];
        let server = editor(&world, transport, "key-1", "key-1");
        let host = HostBuilder::new(&world.paths(), world.load()).without_built_in_server().start();
        host.wait_until_ready(LONG).await;
        let names: Vec<String> =
            host.publish_catalog().iter().map(|entry| entry.name.as_str().to_owned()).collect();
        assert_eq!(names[..2], ["mcp__ide__getDiagnostics", "mcp__ide__executeCode"], "{transport}");
        assert!(!names.iter().any(|name| name.contains("Diff")), "{names:?}");
        let outcome =
            host.call(Call::new("mcp__ide__executeCode", json!({ "code": "1 + 1" }))).await.unwrap();
        assert_eq!(outcome.to_text(), "1 + 1");
        let long = "1 + ".repeat(100_000);
        let outcome = host.call(Call::new("mcp__ide__executeCode", json!({ "code": long }))).await.unwrap();
        assert!(outcome.to_text() == long && outcome.stored.is_empty(), "what an editor says is never cut");
        assert!(host.call(Call::new("mcp__ide__openDiff", json!({ "old_file_path": "x" }))).await.is_err());
        host.shut_down().await;
        assert_eq!(server.stats()["unauthorized"], 0);
        let received = log_lines(&world.path("log"));
        let requests: Vec<Value> =
            received.iter().filter_map(|line| serde_json::from_str(&line.text).ok()).collect();
        let with_headers: Vec<&Value> =
            requests.iter().filter_map(|request| request.get("headers")).collect();
        assert!(!with_headers.is_empty());
        assert!(with_headers.iter().all(|headers| {
            headers["x-claude-code-ide-authorization"] == "key-1" && headers.get("origin").is_none()
        }));
        // Once, in any form of the transport.
        let told: Vec<&str> = received
            .iter()
            .map(|line| line.text.as_str())
            .filter(|text| text.contains("ide_connected"))
            .collect();
        assert_eq!(told.len(), 1, "{transport}: {told:?}");
        let told = told[0].replace('\\', "");
        assert!(told.contains(&format!(r#""pid":{}"#, std::process::id())), "{told}");
    }
}

// B98 H32
#[tokio::test]
async fn wrong_or_missing_editor_token_fails_without_showing_it() {
    let world = world();
    let _server = editor(&world, "sse", "key-1", "other-key-22");
    let host = HostBuilder::new(&world.paths(), world.load()).start();
    let error = host.connect_server(&ServerName::new("ide")).await.unwrap_err().to_string();
    assert!(!error.contains("other-key-22"), "{error}");
    host.shut_down().await;
    let mut world = World::new();
    let entry = json!({ "type": "sse-ide", "url": "http://127.0.0.1:1/sse", "ideName": "Ed" });
    world.run_options.mcp_config = vec![json!({ "mcpServers": { "x": entry } }).to_string()];
    let host = HostBuilder::new(&world.paths(), world.load()).start();
    let error = host.connect_server(&ServerName::new("x")).await.unwrap_err().to_string();
    assert!(error.contains("its `authToken` is missing"), "{error}");
    host.shut_down().await;
}
