//! What a person sees while waiting, and that nobody else sees it.

use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::terminal;
use crate::world::World;

const CLEAR: &str = "\r\u{1b}[K";

/// A world whose only server never answers, and a limit long enough to be waited for.
fn waiting() -> World {
    let silent = ScriptedStdio::new(&["hang-start"]);
    let servers = json!({"mcpServers": {"silent": {"command": silent.program, "args": silent.args}}});
    let mut world = World::with(&[("home/.claude.json", &servers.to_string())]);
    world.set("MCP_TIMEOUT", "800");
    world.set("TERM", "xterm");
    world
}

// U3
#[test]
fn on_a_terminal_a_progress_line_is_shown_and_cleared_before_output() {
    let (code, _, shown) = terminal::run(&mut waiting().command(&["list"]), true);
    assert_eq!(code, 0);
    let line = shown.find("waiting for 1 server(s) …").unwrap_or_else(|| panic!("{shown:?}"));
    let result = shown.find("timed out after 800ms").unwrap_or_else(|| panic!("{shown:?}"));
    assert!(line < result, "{shown:?}");
    let (before, _) = shown.split_at(result);
    let last_drawn = before.rfind("waiting for").unwrap();
    assert!(before.rfind(CLEAR).unwrap() > last_drawn, "{shown:?}");
    let (_, behind) = shown.split_at(result);
    assert!(!behind.contains("waiting for 1"), "{shown:?}");
}

// U3
#[test]
fn the_progress_line_never_appears_in_piped_data() {
    let (code, out, shown) = terminal::run(&mut waiting().command(&["list"]), false);
    assert_eq!(code, 0);
    assert!(shown.contains("waiting for 1 server(s) …") && shown.ends_with(CLEAR), "{shown:?}");
    assert!(!out.contains(['\r', '\u{1b}']), "{out:?}");
}

// U3
#[test]
fn no_progress_line_is_shown_in_a_pipe_or_a_dumb_terminal() {
    let mut world = waiting();
    assert_eq!(world.mcparley(&["list"]).err, "");
    world.set("TERM", "dumb");
    let (_, _, shown) = terminal::run(&mut world.command(&["list"]), false);
    assert_eq!(shown, "");
}

// L3
#[test]
fn on_a_terminal_the_line_says_that_a_package_runner_downloads() {
    let mut world = World::new();
    world.set("TERM", "xterm");
    let server = ScriptedStdio::new(&[]);
    // Downloads for three seconds: it is looked at after two.
    let script = format!(
        "#!/bin/bash\nmkfifo \"$0.$$\"; exec 9<>\"$0.$$\"; read -t 3 -u 9\nexec '{}' {}\n",
        server.program.display(),
        server.args.join(" ")
    );
    world.write("bin/npx", &script);
    let runner = world.root.join("bin/npx");
    std::fs::set_permissions(&runner, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let servers = json!({"mcpServers": {"one": {"command": runner, "args": ["server"]}}});
    world.write("home/.claude.json", &servers.to_string());
    let commands = [&["list"][..], &["tools", "--refresh"], &["call", "one", "echo", "message=hi"]];
    for command in commands {
        let (code, _, shown) = terminal::run(&mut world.command(command), true);
        assert_eq!(code, 0, "{command:?}: {shown:?}");
        let text = "waiting for 1 server(s), npx is downloading `one` …";
        assert!(shown.contains(text), "{command:?}: {shown:?}");
    }
}
