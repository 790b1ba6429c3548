//! Servers that are typed instead of configured: after `--`, as a URL, and with `--mcp-server`.

use mcparley_cli::exit;
use mcparley_testkit::{HttpServer, ScriptedStdio};

use crate::world::{Output, World};

/// The words of the command that starts the scripted server.
fn command(scripts: &[&str]) -> Vec<String> {
    let ScriptedStdio { program, args, .. } = ScriptedStdio::new(scripts);
    [program.to_string_lossy().into_owned()].into_iter().chain(args).collect()
}

fn run(world: &World, front: &[&str], server: &[String], behind: &[&str]) -> Output {
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    world.mcparley(&[front, &["--"], &server, behind].concat())
}

// U2 C1
#[test]
fn a_command_after_two_dashes_is_a_server_for_this_run() {
    let (world, server) = (World::new(), command(&[]));
    let cases: [(&[&str], &[&str], &str); 9] = [
        (&["tools"], &[], "echo(message: string)"),
        (&["tools"], &["--", "echo"], "full name: mcp__"),
        (&["tools", "--refresh"], &[], "echo(message: string)"),
        (&["mcp", "tools"], &[], "echo(message: string)"),
        (&["prompts"], &[], "greet"),
        (&["search", "repeat"], &[], "echo(message: string)"),
        (&["call"], &["--", "echo", "message=hi there"], "hi there\n"),
        (
            &["call", "--timeout", "9000"],
            &["--", "echo", "--message", "flag", "--json"],
            "\"text\": \"flag\"",
        ),
        (&["prompt"], &["--", "greet"], "ello"),
    ];
    for (front, behind, expected) in cases {
        let done = run(&world, front, &server, behind);
        assert_eq!(done.code, 0, "{front:?} {behind:?}: {done:?}");
        assert!(done.out.contains(expected), "{front:?} {behind:?}: {done:?}");
    }
    let doctor = run(&world, &["doctor"], &server, &[]);
    assert!(doctor.code == 0 && doctor.out.contains("works ("), "{doctor:?}");
    assert_eq!(run(&world, &["resources"], &server, &[]).code, 0);
    let written: Vec<String> = world.files().into_iter().filter(|file| !file.contains(".cache/")).collect();
    let is_setting = |file: &&String| file.ends_with(".claude.json") || file.ends_with("settings.json");
    assert!(!written.iter().any(|file| is_setting(&file)), "{written:?}");
}

// U2
#[test]
fn a_resource_of_a_typed_server_is_read() {
    let world = World::new();
    let offers = r#"{"resources/list": {"resources": [{"uri": "a:b", "name": "b"}]},
        "resources/read": {"a:b": {"contents": [{"uri": "a:b", "text": "content"}]}}}"#;
    world.write("offers.json", offers);
    let server = command(&[&format!("offers:{}", world.root.join("offers.json").display())]);
    let done = run(&world, &["read"], &server, &["--", "a:b"]);
    assert_eq!((done.code, done.out.as_str()), (0, "content\n"), "{done:?}");
}

// U2
#[test]
fn a_call_without_the_second_two_dashes_says_where_they_belong() {
    let world = World::new();
    for (verb, needed) in [("call", "TOOL [ARGUMENTS]…"), ("read", "URI"), ("prompt", "PROMPT [ARGUMENTS]…")]
    {
        let done = world.mcparley(&[verb, "--", "npx", "-y", "pkg"]);
        assert_eq!(done.code, i32::from(exit::USAGE.number), "{done:?}");
        assert!(done.err.contains("needs a `--` after it"), "{done:?}");
        assert!(done.err.contains(&format!("mcparley {verb} -- npx -y pkg -- {needed}")), "{done:?}");
    }
}

// U2
#[test]
fn a_url_in_place_of_a_server_is_a_server_for_this_run() {
    let (world, server) = (World::new(), HttpServer::start(&[]));
    let url = server.url();
    assert_eq!(world.ok(&["call", url, "echo", "message=hi"]), "hi\n");
    assert!(world.ok(&["tools", url]).contains("echo(message: string)"));
    assert!(world.ok(&["tools", url, "echo"]).contains("full name: mcp__"));
    assert!(world.ok(&["search", "--server", url, "repeat"]).contains("echo(message: string)"));
    assert!(world.ok(&["doctor", url]).contains("works ("));
    assert!(!world.files().iter().any(|file| file.ends_with(".claude.json")));
}

// C1 U2a
#[test]
fn a_named_server_on_the_command_line_is_used_and_obeys_the_rules() {
    let world = World::new();
    let line = format!("kit={}", command(&[]).join(" "));
    let with = |words: &[&str]| world.mcparley(&[&["--mcp-server", &line], words].concat());
    assert_eq!(with(&["call", "kit.echo", "message=hi"]).out, "hi\n");
    assert_eq!(with(&["--strict-mcp-config", "call", "kit", "echo", "message=hi"]).out, "hi\n");
    let plan = world.json(&["plan", "--mcp-server", &line]);
    assert_eq!(plan["servers"][0]["scope"], "dynamic", "{plan}");
    let denied = with(&["--disallowed-tools", "mcp__kit__echo", "call", "kit.echo", "message=hi"]);
    assert_eq!(denied.code, i32::from(exit::DENIED.number), "{denied:?}");
    let wrong = world.mcparley(&["--mcp-server", "npx -y pkg", "plan"]);
    assert_eq!(wrong.code, i32::from(exit::CONFIG.number), "{wrong:?}");
    assert!(wrong.err.contains("--mcp-server: missing name of the server"), "{wrong:?}");
    assert!(wrong.err.contains("hint: write it like `--mcp-server"), "{wrong:?}");
}

// U2 D1
#[test]
fn a_typed_server_is_blocked_by_policy() {
    let world = World::new();
    let (server, policy) = (command(&[]), r#"{"allowedMcpServers": []}"#);
    world.write("managed/managed-settings.json", policy);
    let done = run(&world, &["call"], &server, &["--", "echo", "message=hi"]);
    assert_eq!(done.code, i32::from(exit::BLOCKED.number), "{done:?}");
}
