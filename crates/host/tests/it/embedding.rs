//! A host that a program puts together in code: servers without files, tools and handlers that are closures.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley::config::load_config;
use mcparley::model::config::TransportConfig;
use mcparley::{Call, CallError, Host, InProcessServer, Paths, PermissionAnswer, ServerEntry};
use mcparley_testkit::{ScriptedStdio, example_path};
use serde_json::{Value, json};

use crate::world::World;

fn calculator() -> InProcessServer {
    let schema = json!({ "type": "object", "description": "Adds." });
    InProcessServer::new("calc").tool("add", schema, |numbers: Value| async move {
        let sum = numbers["a"].as_i64().zip(numbers["b"].as_i64()).map(|(a, b)| a + b);
        sum.map(|sum| json!({ "sum": sum })).ok_or("two numbers are needed")
    })
}

// T5 K1
#[tokio::test]
async fn in_process_tool_is_permitted_by_a_closure_and_gives_structured_content() {
    let world = World::new();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let host = Host::builder(&world.paths(), &world.run_options)
        .in_process_server(calculator())
        .approver_fn(move |question| {
            seen.lock().unwrap().push(format!("{} {}", question.entry.name, question.arguments));
            let is_small = question.arguments["a"].as_i64() < Some(100);
            Box::pin(async move {
                if is_small {
                    PermissionAnswer::Allow
                } else {
                    PermissionAnswer::Deny("too large".to_owned())
                }
            })
        })
        .start();
    let add = |a: i64| host.call(Call::new("mcp__calc__add", json!({ "a": a, "b": 2 })));
    let outcome = add(40).await.unwrap();
    assert_eq!(outcome.structured.unwrap().decode::<Value>().unwrap(), json!({ "sum": 42 }));
    let error = add(100).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }) && error.to_string().contains("too large"), "{error}");
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked, [r#"mcp__calc__add {"a":40,"b":2}"#, r#"mcp__calc__add {"a":100,"b":2}"#]);
}

// N3
#[tokio::test]
async fn in_process_tools_keep_their_names_with_the_variable_of_claude_code() {
    for (value, name) in [("1", "add"), ("0", "mcp__calc__add")] {
        let mut world = World::new();
        world.set("CLAUDE_AGENT_SDK_MCP_NO_PREFIX", value);
        let host = Host::builder(&world.paths(), &world.run_options).in_process_server(calculator()).start();
        host.wait_until_ready(Duration::from_secs(10)).await;
        assert!(host.catalog().get(name).is_some(), "{value}");
        assert!(host.catalog().get("mcp__mcparley__echo").is_some(), "the built-in server keeps its prefix");
    }
}

// C1 T1
#[tokio::test]
async fn server_in_code_runs_without_a_file() {
    let scripted = ScriptedStdio::new(&[]);
    let entry =
        ServerEntry::stdio(scripted.program.to_str().unwrap()).args(scripted.args).env("TOKEN", "s3cret");
    let mut world = World::new();
    world.set("PATH", "/usr/bin:/bin");
    world.run_options = world.run_options.with_server("one", entry);
    world.run_options.allowed_tools.push("mcp__one".to_owned());
    assert_eq!(world.table(), ["dynamic one ready"]);
    assert!(!format!("{:?}", world.run_options).contains("s3cret"));
    let host = Host::builder(&world.paths(), &world.run_options).start();
    let outcome = host.call(Call::on_server("one", "echo", json!({ "message": "hi" }))).await.unwrap();
    assert_eq!(outcome.to_text(), "hi");
}

// C9
#[test]
fn policy_holds_for_a_server_in_code() {
    let mut world = World::new();
    world.write("managed/managed-settings.json", r#"{"deniedMcpServers": [{"serverName": "one"}]}"#);
    world.run_options = world.run_options.with_server("one", ServerEntry::http("https://example.com/mcp"));
    let [line] = &*world.table() else { panic!("one server") };
    assert!(line.starts_with("dynamic one blocked"), "{line}");
}

// C2 C6
#[test]
fn every_field_of_an_entry_reaches_the_server() {
    let api = ServerEntry::http("https://example.com/mcp")
        .header("Authorization", "Bearer ${TOKEN}")
        .header("X-Team", "blue")
        .field("timeout", 5000);
    let files =
        ServerEntry::stdio("files").args(["-r", "."]).args(["-v"]).env("A", "1").env("B", "2").cwd("/srv");
    let mut world = World::new();
    world.set("TOKEN", "t0ken");
    let options = world.run_options.clone().with_server("api", api).with_server("files", files);
    let loaded = load_config(&world.paths(), &options);
    let config = |name: &str| loaded.plan.servers_by_name(name)[0].config.clone().unwrap();
    let TransportConfig::Http(remote) = config("api").transport else { panic!("a remote server") };
    let headers: Vec<_> =
        remote.headers.iter().map(|(name, value)| (&**name, value.expose().as_str())).collect();
    assert_eq!(headers, [("Authorization", "Bearer t0ken"), ("X-Team", "blue")]);
    assert_eq!(config("api").timeout, Some(std::time::Duration::from_secs(5)));
    let TransportConfig::Stdio(stdio) = config("files").transport else { panic!("a local server") };
    let arguments: Vec<_> = stdio.args.iter().map(|argument| argument.expose().as_str()).collect();
    assert_eq!((arguments, stdio.cwd.as_deref()), (vec!["-r", ".", "-v"], Some("/srv")));
    let variables: Vec<_> =
        stdio.env.iter().map(|(name, value)| (&**name, value.expose().as_str())).collect();
    assert_eq!(variables, [("A", "1"), ("B", "2")]);
}

// C1
#[test]
fn paths_of_a_user_follow_the_variables() {
    let world = World::new();
    let home = world.path("home");
    let variable = |name: &str| match name {
        "XDG_STATE_HOME" => Some("/var/state".to_owned()),
        "CLAUDE_CONFIG_DIR" => Some("/etc/own".to_owned()),
        "XDG_CACHE_HOME" => Some(String::new()),
        _ => None,
    };
    let paths = Paths::in_user_directories(&home, &home.join("project"), variable);
    assert_eq!(paths.approvals, std::path::Path::new("/var/state/mcparley/approvals.json"));
    assert_eq!(paths.claude.json, std::path::Path::new("/etc/own/.claude.json"));
    assert_eq!(paths.cache, Some(home.join(".cache/mcparley")));
    assert_eq!(paths.secrets, Some(home.join(".local/share/mcparley/secrets")));
    assert_eq!(paths.executable, None);
}

// U7
#[test]
fn readme_and_embedding_page_begin_with_the_example_that_is_compiled() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let example = std::fs::read_to_string(root.join("crates/host/examples/agent.rs")).unwrap();
    for name in ["docs/embed.md", "crates/host/README.md"] {
        let page = std::fs::read_to_string(root.join(name)).unwrap();
        let shown = page.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
        assert!(example.ends_with(&format!("\n\n{shown}")), "{name} does not show examples/agent.rs");
    }
}

// U7
#[test]
fn every_fragment_of_the_embedding_page_is_compiled() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let code_lines = |text: &str| -> String {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let examples = ["agent", "embedding_page"].map(|name| read(&format!("crates/host/examples/{name}.rs")));
    let compiled = examples.map(|example| code_lines(&example));
    let page = read("docs/embed.md");
    let fragments: Vec<&str> =
        page.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(fragments.len() > 5, "{} fragments", fragments.len());
    for fragment in fragments {
        let lines = code_lines(fragment);
        assert!(compiled.iter().any(|example| example.contains(&lines)), "not compiled:\n{fragment}");
    }
}

// U7
#[test]
fn readme_requires_the_version_that_it_is_published_with() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let shown = page.lines().find_map(|line| line.strip_prefix("mcparley = \"")?.strip_suffix('"')).unwrap();
    let own = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    assert_eq!(shown, own);
}

// G6
#[test]
fn smallest_example_works_in_an_empty_home_and_leaves_only_its_audit_log() {
    let world = World::new();
    let home = world.path("home");
    let mut program = Command::new(example_path("agent"));
    program.env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin").current_dir(&home);
    let output = program.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.ends_with(b"\nhello\n"), "{output:?}");
    let names = |folder: &std::path::Path| -> Vec<_> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(&home.join(".local")), ["state"]);
    assert_eq!(names(&home.join(".local/state/mcparley")), ["audit"]);
}

/// Runs the example in an empty home, with a user that types `answers`.
fn run_example(
    world: &World,
    (tool, arguments): (&str, &Value),
    server: &ScriptedStdio,
    answers: &str,
) -> String {
    let mut program = Command::new(example_path("servers_in_code"));
    program.args([tool, &arguments.to_string()]).arg(&server.program).args(&server.args);
    program
        .env_clear()
        .env("HOME", world.path("home"))
        .env("PATH", "/usr/bin:/bin")
        .current_dir(world.path("home"));
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut running = program.spawn().unwrap();
    running.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

// K2 T5
#[test]
fn example_shows_an_in_process_tool_and_the_progress_of_a_program() {
    let world = World::new();
    let told = run_example(&world, ("slow", &json!({ "ms": 300 })), &ScriptedStdio::new(&[]), "y\ny\n");
    let asked = "Call mcp__calc__add with {\"a\":40,\"b\":2}? y/n\n{\"sum\":42.0}\n";
    assert!(told.starts_with(asked), "{told}");
    assert!(told.contains("progress ") && told.ends_with("done\n"), "{told}");
}

// X5
#[test]
fn example_answers_what_a_server_asks() {
    let world = World::new();
    let server =
        ScriptedStdio::new(&["server-request:elicitation/create"]).with_option("--versions", "2025-11-25");
    let told = run_example(&world, ("echo", &json!({ "message": "hi" })), &server, "y\ny\ny\n");
    assert!(told.contains("Who are you? y for {"), "{told}");
    assert!(told.contains(r#""action":"accept""#), "{told}");
}
