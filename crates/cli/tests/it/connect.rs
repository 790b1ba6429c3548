//! `connect`: shown first, written when told to, and undone (G11).

use serde_json::json;

use crate::world::World;

const CURSOR: &str = "home/.cursor/mcp.json";

// G11
#[test]
fn without_a_yes_the_entry_is_shown_and_nothing_is_written() {
    let world = World::new();
    let done = world.mcparley(&["connect", "cursor"]);
    assert_eq!(done.code, 10, "{done:?}");
    assert!(
        done.out.starts_with("Cursor  home/.cursor/mcp.json\n  mcparley: {\"type\":\"stdio\""),
        "{done:?}"
    );
    assert_eq!(done.err, "hint: nothing was written; use `--yes` to write it\n");
    assert_eq!(world.files(), [""; 0]);
    let printed = world.mcparley(&["connect", "cursor", "--print"]);
    assert_eq!((printed.code, printed.err.as_str()), (0, ""), "{printed:?}");
    assert_eq!(world.files(), [""; 0]);
}

// G11
#[test]
fn options_of_serve_are_written_into_the_entry() {
    let world = World::new();
    let options = ["--only", "files", "--tools", "files__*,search", "--permission-mode", "plan"];
    let report = world.json(&[&["connect", "cursor", "--yes"][..], &options].concat());
    assert_eq!((&report["written"], &report["change"]), (&json!(true), &json!("add")), "{report}");
    let args = &world.read_json(CURSOR)["mcpServers"]["mcparley"]["args"];
    let expected = ["serve", "--only", "files", "--tools", "files__*", "--tools", "search"];
    assert_eq!(*args, json!([&expected[..], &["--permission-mode", "plan"]].concat()));
    let again = world.json(&[&["connect", "cursor", "--yes"][..], &options].concat());
    assert_eq!((&again["written"], &again["change"]), (&json!(false), &json!("none")), "{again}");
}

// G11
#[test]
fn connection_is_listed_and_undone() {
    let world = World::with(&[(CURSOR, "{ \"mcpServers\": { \"a\": { \"command\": \"x\" } } }")]);
    let before = world.files();
    let done = world.mcparley(&["connect", "cursor", "--take-over", "--yes"]);
    assert!(done.out.contains("  move a\nConnected Cursor.\nRestart Cursor.\nCursor may show"), "{done:?}");
    assert!(done.err.contains("`mcparley connect cursor --undo` puts the file back"), "{done:?}");
    let clients = world.json(&["connect"]);
    let cursor = clients["clients"].as_array().unwrap().iter().find(|client| client["client"] == "cursor");
    assert_eq!(cursor.unwrap()["files"][0]["connected_as"], "mcparley");
    assert_eq!(world.plan(), ["a user ready"]);
    let undone = world.ok(&["connect", "cursor", "--undo"]);
    assert!(
        undone.contains("Restored home/.cursor/mcp.json\nRemoved home/.claude/settings.json"),
        "{undone}"
    );
    assert_eq!(world.files(), before);
    let again = world.mcparley(&["connect", "cursor", "--undo"]);
    assert_eq!(again.code, 5, "{again:?}");
}

// G11
#[test]
fn server_of_the_team_that_claude_code_starts_too_is_named_but_not_to_be_removed() {
    let world = World::new();
    world.ok(&["add", "ours", "--scope", "project", "--", "server-of-the-team"]);
    world.ok(&["approve", "ours"]);
    let done = world.mcparley(&["connect", "claude-code", "--yes"]);
    let hint =
        "in this folder Claude Code also starts `ours` itself, since `.mcp.json` lists it for the whole team";
    assert!(done.err.contains(hint) && !done.err.contains("remove it"), "{done:?}");
}

// G11
#[test]
fn server_of_local_scope_that_claude_code_starts_too_is_named() {
    let world = World::new();
    world.ok(&["add", "mine", "--", "server-of-mine"]);
    let done = world.mcparley(&["connect", "claude-code", "--yes"]);
    assert!(done.err.contains("in this folder Claude Code also starts `mine` itself"), "{done:?}");
    assert!(done.err.contains("`mcparley add --scope user --file settings`"), "{done:?}");
    world.ok(&["remove", "mine"]);
    world.ok(&["add", "mine", "--scope", "user", "--file", "settings", "--", "server-of-mine"]);
    let again = world.mcparley(&["connect", "claude-code", "--yes"]);
    assert!(!again.err.contains("also starts"), "{again:?}");
    assert_eq!(world.plan(), ["mine user ready", "mcparley user skipped"]);
}

// G11
#[test]
fn refusals_say_what_to_do() {
    let world = World::with(&[(CURSOR, r#"{ "mcpServers": { "mcparley": { "command": "x" } } }"#)]);
    for (args, code, hint) in [
        (&["connect", "cursor", "--yes"][..], 6, "rename that server in"),
        (&["connect", "windsurf", "--scope", "project"], 2, "leave `--scope project` out"),
        (&["connect", "vscode", "--scope", "project", "--take-over"], 6, "`mcparley import` adds them"),
        (&["connect", "codex", "--undo"], 5, "`mcparley connect` lists clients"),
    ] {
        let done = world.mcparley(args);
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.err.contains(hint), "{args:?}: {done:?}");
    }
}
