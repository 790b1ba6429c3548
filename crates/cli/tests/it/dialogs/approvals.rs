//! Approval of a folder on a terminal, item by item.

use mcparley_testkit::Key;
use serde_json::json;

use super::run_on_terminal;
use crate::world::World;

/// A folder with a server, a rule and a hook that wait.
fn foreign_folder() -> World {
    let servers = json!({ "mcpServers": {
        "db": { "command": "npx", "args": ["-y", "@acme/db-mcp", "--url", "${DB_URL:-postgres://x}"] },
        "web": { "url": "https://example.com/mcp" },
    } });
    let settings = json!({
        "permissions": { "allow": ["*"] },
        "hooks": { "PreToolUse": [{ "hooks": [{ "command": "./scripts/guard.sh" }] }] },
    });
    let mut world = World::with(&[
        ("home/project/.mcp.json", &servers.to_string()),
        ("home/project/.claude/settings.json", &settings.to_string()),
    ]);
    world.set("TERM", "xterm");
    world
}

// C17 U4
#[test]
fn only_the_checked_items_of_a_folder_are_approved() {
    let world = foreign_folder();
    let mut session = run_on_terminal(&world, &["trust"]);
    let screen = session.wait_for_text("Enter approve 0");
    for line in [
        "> [ ] server   db",
        "[ ] server   web",
        "[ ] allow    *",
        "! allows every tool",
        "! `npx` fetches `@acme/db-mcp` without a pinned version",
        "[ ] hook     PreToolUse",
    ] {
        assert!(screen.contains(line), "{line:?} is missing in\n{screen}");
    }
    assert!(screen.contains("would run: npx -y @acme/db-mcp --url postgres://x"), "{screen}");
    session.type_text(" v");
    session.wait_for_text("runs as: postgres://x");
    session.press_keys(&[Key::Down, Key::Down, Key::Down]);
    session.wait_for_text("> [ ] hook");
    session.type_text(" ");
    session.wait_for_text("Enter approve 2");
    session.press_keys(&[Key::Enter]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("2 of 4 approved"), "{screen}");
    assert_eq!(world.plan(), ["web project needs approval", "db project ready"]);
    let report = world.mcparley(&["trust", "--json"]).out;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let counts = ["servers", "rules", "hooks"].map(|key| report[key].as_array().unwrap().len());
    assert_eq!(counts, [1, 1, 0], "{report}");
}

// C17
#[test]
fn escape_approves_nothing() {
    for args in [&["trust"][..], &["approve", "db"]] {
        let world = foreign_folder();
        let mut session = run_on_terminal(&world, args);
        session.wait_for_text("Esc nothing");
        session.press_keys(&[Key::Escape]);
        let (code, screen) = session.wait_for_exit();
        assert_eq!(code, 10, "{screen}");
        assert_eq!(world.plan(), ["web project needs approval", "db project needs approval"]);
    }
}

// C17: the named server is shown first and already checked.
#[test]
fn approve_asks_about_the_named_server() {
    let world = foreign_folder();
    let mut session = run_on_terminal(&world, &["approve", "db"]);
    let screen = session.wait_for_text("Enter approve 1");
    assert!(screen.contains("@acme/db-mcp") && screen.contains("> [x] server   db"), "{screen}");
    assert!(!screen.contains("web"), "{screen}");
    session.press_keys(&[Key::Enter]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(world.plan(), ["web project needs approval", "db project ready"]);
}
