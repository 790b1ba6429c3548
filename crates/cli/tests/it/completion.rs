//! Shell completion that knows the servers and their tools (U3).

use mcparley_testkit::ScriptedStdio;

use crate::world::World;

/// What a shell is offered for the last of these words.
pub(crate) fn offered(world: &mut World, words: &[&str]) -> Vec<String> {
    world.set("COMPLETE", "bash");
    world.set("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    world.set("_CLAP_IFS", "\n");
    let done = world.mcparley(&[&["--"], words].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    done.out.lines().filter(|word| !word.starts_with('-')).map(str::to_owned).collect()
}

fn with_servers() -> World {
    let world = World::new();
    world.ok(&["add", "-s", "user", "github", "x"]);
    world.ok(&["add", "gitlab", "x"]);
    world.write("home/project/.mcp.json", r#"{"mcpServers": {"waits": {"command": "x"}}}"#);
    world
}

// U3
#[test]
fn every_shell_gets_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = World::new().ok(&["completions", shell]);
        assert!(script.contains("mcparley") && script.contains("COMPLETE"), "{shell}: {script}");
    }
    assert_eq!(World::new().mcparley(&["completions", "csh"]).code, 2);
}

// U3
#[test]
fn commands_that_take_a_server_offer_the_servers() {
    for command in ["get", "remove", "enable", "disable", "tools", "call", "logs", "reconnect"] {
        let words = ["mcparley", command, ""];
        assert_eq!(offered(&mut with_servers(), &words), ["github", "gitlab", "waits"], "{command}");
    }
    assert_eq!(offered(&mut with_servers(), &["mcparley", "mcp", "get", "gith"]), ["github"]);
    assert_eq!(offered(&mut with_servers(), &["mcparley", "permissions", "test", "w"]), ["waits"]);
}

// U3
#[test]
fn approve_completes_servers_that_need_approval() {
    for command in ["approve", "reject"] {
        assert_eq!(offered(&mut with_servers(), &["mcparley", command, ""]), ["waits"]);
    }
}

// U3 A8: nobody signs in to a command.
#[test]
fn login_completes_remote_servers() {
    for words in [&["login"][..], &["logout"], &["mcp", "login"], &["auth", "status"]] {
        let mut world = with_servers();
        world.ok(&["add", "remote", "https://h.example/mcp"]);
        assert_eq!(offered(&mut world, &[&["mcparley"], words, &[""]].concat()), ["remote"], "{words:?}");
    }
}

// U3
#[test]
fn a_broken_file_does_not_break_completion() {
    let mut world = with_servers();
    world.write("home/.claude/settings.json", "{");
    assert_eq!(offered(&mut world, &["mcparley", "get", "gitl"]), ["gitlab"]);
}

// U3 B45
#[test]
fn a_name_that_a_shell_would_act_upon_is_not_offered() {
    let mut world = World::with(&[(
        "home/project/.mcp.json",
        r#"{"mcpServers": {
            "$(touch pwned)": {"command": "x"}, "a;b": {"command": "x"}, "a\nb": {"command": "x"},
            "\u001b[31m": {"command": "x"}, "--json": {"command": "x"}, "a b": {"command": "x"}, "`x`": {"command": "x"},
            "plain.name:it": {"command": "x"}
        }}"#,
    )]);
    assert_eq!(offered(&mut world, &["mcparley", "get", ""]), ["plain.name:it"]);
}

/// A world in which it is remembered what the scripted server offers.
fn with_tools(scripts: &[&str]) -> World {
    let world = World::new();
    let server = ScriptedStdio::new(scripts);
    let program = server.program.to_str().unwrap();
    let words: Vec<&str> = server.args.iter().map(String::as_str).collect();
    world.ok(&[&["add", "-s", "user", "kit", "--", program], &words[..]].concat());
    world.ok(&["tools", "kit"]);
    world
}

// U3 L12: what is remembered is enough; a shell that waits for a server would not be used twice.
#[test]
fn tools_and_their_arguments_are_offered_without_a_server() {
    let offered = |words: &[&str]| offered(&mut with_tools(&[]), &[&["mcparley"], words].concat());
    assert_eq!(offered(&["call", "kit", "e"]), ["echo", "env"]);
    assert_eq!(offered(&["tools", "kit", "ec"]), ["echo"]);
    assert_eq!(offered(&["mcp", "call", "kit", "sl"]), ["slow"]);
    assert_eq!(offered(&["call", "kit", "add", ""]), ["a=", "b="]);
    assert_eq!(offered(&["call", "kit", "add", "a=1", ""]), ["b="]);
    assert_eq!(offered(&["call", "mcp__kit__ec"]), ["mcp__kit__echo"]);
    assert_eq!(offered(&["call", "mcp__kit__echo", ""]), ["message="]);
    assert_eq!(offered(&["call", "kit.e"]), ["kit.echo", "kit.env"]);
    assert_eq!(offered(&["call", "kit.add", "a=1", ""]), ["b="]);
    assert_eq!(offered(&["tools", "kit.sl"]), ["kit.slow"]);
    assert_eq!(offered(&["call", "other", ""]), [""; 0]);
}

// U3 B45
#[test]
fn a_tool_that_a_shell_would_act_upon_is_not_offered() {
    let mut world = with_tools(&["also-tool:$(touch pwned)"]);
    let tools = offered(&mut world, &["mcparley", "call", "kit", ""]);
    assert!(
        tools.contains(&"echo".to_owned()) && !tools.iter().any(|tool| tool.contains("pwned")),
        "{tools:?}"
    );
}
