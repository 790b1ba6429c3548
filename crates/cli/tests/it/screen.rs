//! The screen of the servers on a terminal: `mcparley mcp`.

use std::os::unix::fs::PermissionsExt as _;

use mcparley_testkit::{AuthServer, Key, ScriptedStdio, TerminalSession};
use serde_json::json;

use crate::sign_in::person;
use crate::talk::{entry, world};
use crate::world::World;

fn open(world: &World) -> TerminalSession {
    TerminalSession::start(&world.command(&["mcp"]))
}

fn world_with(servers: &serde_json::Value) -> World {
    let mut world = world(servers);
    world.set("TERM", "xterm-256color");
    world
}

/// A server that fails with a message until the file `mended` is there.
pub(crate) fn mendable(world: &World) -> String {
    let good = ScriptedStdio::new(&[]);
    let words: Vec<String> =
        std::iter::once(good.program.to_string_lossy().into_owned()).chain(good.args).collect();
    let script = format!(
        "#!/bin/sh\nif [ -e {0}/mended ]; then exec {1}; fi\necho 'no license found' >&2\nexit 3\n",
        world.root.display(),
        words.join(" "),
    );
    world.write("server.sh", &script);
    let path = world.root.join("server.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

// U4 L1
#[test]
fn failing_server_shows_its_error_and_reconnects_once_it_is_mended() {
    let world = world_with(&json!({}));
    let program = mendable(&world);
    let config = json!({ "mcpServers": { "crm": { "command": program } } });
    world.write("home/.claude.json", &config.to_string());
    let mut screen = open(&world);
    screen.wait_for_text("failed   ");
    // Errors is the second page to the left.
    screen.press_keys(&[Key::Left, Key::Left]);
    let page = screen.wait_for_text("no license found");
    assert!(page.contains("[Errors"), "{page}");
    assert!(page.contains("exited with code 3"), "{page}");
    world.write("mended", "");
    screen.type_text("r");
    let page = screen.wait_for_text("crm is connected");
    assert!(page.contains("connected   "), "{page}");
    assert!(page.contains("No errors."), "{page}");
    screen.type_text("q");
    assert_eq!(screen.wait_for_exit().0, 0);
}

// U4
#[test]
fn server_is_disabled_and_enabled_and_the_choice_is_recorded() {
    let world = world_with(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let mut screen = open(&world);
    screen.wait_for_text("1 · 1 connected");
    screen.type_text("e");
    screen.wait_for_text("one is disabled");
    screen.wait_for_text("1 · 0 connected");
    let disabled = || world.read("home/.claude.json").contains("disabledMcpServers");
    assert!(disabled());
    assert_eq!(world.plan(), ["one user disabled"]);
    screen.type_text("e");
    screen.wait_for_text("1 · 1 connected");
    assert_eq!(world.plan(), ["one user ready"]);
}

// U4
#[test]
fn key_that_arrives_with_a_resize_is_handled() {
    let server = || entry(&ScriptedStdio::new(&[]));
    let world = world_with(&json!({ "one": server(), "two": server() }));
    let mut screen = open(&world);
    screen.wait_for_text("2 connected");
    screen.wait_for_text("▸ ● one");
    // The two meet in the program by chance, so many tries are needed.
    for round in 0..100 {
        let (key, selected) =
            if round % 2 == 0 { (Key::Down, "▸ ● two") } else { (Key::Up, "▸ ● one") };
        screen.resize(24, 80 + round % 2);
        screen.press_keys(&[key]);
        screen.wait_for_text(selected);
    }
}

// U4 N4
#[test]
fn tool_is_switched_off_and_on_and_its_definition_is_shown() {
    let world = world_with(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let mut screen = open(&world);
    screen.wait_for_text("echo(");
    screen.press_keys(&[Key::Enter]);
    screen.type_text("/echo");
    screen.press_keys(&[Key::Enter]);
    screen.type_text("e");
    let page = screen.wait_for_text("echo is off");
    assert!(page.contains("echo("), "{page}");
    screen.wait_until("a tool that is off", |page| {
        page.lines().any(|line| line.contains("▸ echo(") && line.trim_end().ends_with("off"))
    });
    assert!(world.read("home/.claude.json").contains("\"disabledTools\""));
    screen.type_text("e");
    screen.wait_for_text("echo is on");
    screen.press_keys(&[Key::Enter]);
    let page = screen.wait_for_text("Esc close");
    assert!(page.contains("Hints of the server: read-only"), "{page}");
    assert!(page.contains("\"message\": {"), "{page}");
    screen.press_keys(&[Key::Escape]);
    screen.wait_until_gone("Hints of the server");
}

// U4
#[test]
fn filter_leaves_the_servers_that_contain_it() {
    let world = world_with(&json!({
        "alpha": { "command": "no-such-program" }, "beta": { "command": "no-such-program" },
    }));
    let mut screen = open(&world);
    screen.wait_for_text("beta");
    screen.type_text("/bet");
    screen.wait_until_gone("alpha");
    screen.press_keys(&[Key::Escape]);
    screen.wait_for_text("alpha");
}

// U4
#[test]
fn screen_follows_the_size_of_the_terminal() {
    let world = world_with(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let mut screen = open(&world);
    screen.wait_for_text("1 · 1 connected");
    screen.resize(10, 40);
    let page = screen.wait_for_text("← [Tools");
    assert!(page.lines().count() <= 10, "{page}");
    screen.resize(40, 120);
    screen.wait_for_text("a approve · / filter · ? help · q back");
}

// U4 C17
#[test]
fn server_of_the_project_is_shown_whole_before_it_is_approved() {
    let world = world_with(&json!({}));
    let one = ScriptedStdio::new(&[]);
    world.write("home/project/.mcp.json", &json!({ "mcpServers": { "one": entry(&one) } }).to_string());
    let mut screen = open(&world);
    screen.wait_for_text("waits for approval");
    screen.type_text("a");
    let page = screen.wait_for_text("y approve");
    assert!(page.contains("Approve one?"), "{page}");
    assert!(page.contains("command: "), "{page}");
    screen.press_keys(&[Key::Escape]);
    screen.wait_until_gone("Approve one?");
    screen.wait_for_text("waits for approval");
    screen.type_text("a");
    screen.wait_for_text("y approve");
    screen.type_text("y");
    screen.wait_for_text("1 · 1 connected");
    assert_eq!(world.plan(), ["one project ready"]);
}

// U4
#[test]
fn sign_in_shows_its_page_and_connects_once_the_user_has_signed_in() {
    let authority = AuthServer::start(&[]);
    let mut world = person::world();
    world.set("TERM", "xterm-256color");
    world.ok(&["add", "-s", "user", "notion", authority.url()]);
    let mut screen = open(&world);
    screen.wait_for_text("needs sign-in");
    screen.type_text("l");
    let page = screen.wait_for_text("Open this page in a browser");
    assert!(page.contains("Sign in to notion") && page.contains("127.0.0.1"), "{page}");
    screen.type_text("o");
    screen.wait_for_text("1 · 1 connected");
    screen.wait_until_gone("Open this page in a browser");
    assert_eq!(person::windows(&world).len(), 1);
}

// U4
#[test]
fn leaving_restores_the_terminal() {
    let world = world_with(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let program = world.command(&["mcp"]);
    let program = program.get_program().to_string_lossy().into_owned();
    let script = "stty -g > before; echo still here; \"$0\" mcp; echo left $?; stty -g > after; read end";
    let mut screen = TerminalSession::start(&world.command_of("sh".as_ref(), &["-c", script, &program]));
    let page = screen.wait_for_text("1 · 1 connected");
    assert!(!page.contains("still here"), "{page}");
    screen.type_text("q");
    let page = screen.wait_for_text("left 0");
    assert!(page.contains("still here") && !page.contains("Servers"), "{page}");
    screen.type_text("\n");
    assert_eq!(screen.wait_for_exit().0, 0);
    assert_eq!(world.read("home/project/before"), world.read("home/project/after"));
}

// U4
#[test]
fn signal_restores_the_terminal() {
    let world = world_with(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let program = world.command(&["mcp"]);
    let program = program.get_program().to_string_lossy().into_owned();
    let script = "stty -g > before; \"$0\" mcp & echo $! > pid; fg 2>/dev/null || wait; stty -g > after; \
                  echo left; read end";
    let mut screen = TerminalSession::start(&world.command_of("bash".as_ref(), &["-mc", script, &program]));
    screen.wait_for_text("1 · 1 connected");
    let pid: i32 = world.read("home/project/pid").trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let page = screen.wait_for_text("left");
    assert!(!page.contains("Servers"), "{page}");
    screen.type_text("\n");
    assert_eq!(screen.wait_for_exit().0, 0);
    assert_eq!(world.read("home/project/before"), world.read("home/project/after"));
}

// U4 U3
#[test]
fn screen_has_no_colors_where_the_user_wants_none() {
    for (name, value, is_colored) in [("NO_COLOR", "1", false), ("CLICOLOR", "1", true)] {
        let mut world = world_with(&json!({ "bad": { "command": "no-such-program" } }));
        world.set(name, value);
        let screen = open(&world);
        screen.wait_for_text("failed   ");
        let has_red = ["\u{1b}[31m", ";31m", "\u{1b}[91m", "38;5;1"]
            .iter()
            .any(|code| screen.formatted_screen().contains(code));
        assert_eq!(has_red, is_colored, "{name}: {:?}", screen.formatted_screen());
    }
}

// U4
#[test]
fn without_a_terminal_the_help_is_printed_and_the_screen_is_refused() {
    let world = world_with(&json!({}));
    let help = world.mcparley(&["mcp"]);
    assert_eq!(help.code, 2);
    assert!(help.err.contains("Usage: mcparley mcp"), "{help:?}");
    let refused = world.mcparley(&["screen"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("needs a terminal") && refused.err.contains("hint: "), "{refused:?}");
}
