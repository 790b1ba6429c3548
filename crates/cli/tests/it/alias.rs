//! `mcparley mcp …` is `mcparley …` (U1).

use crate::world::World;

// U1
#[test]
fn every_command_works_the_same_behind_mcp() {
    let commands: [&[&str]; 11] = [
        &["add", "-s", "project", "it", "npx", "-y", "x"],
        &["add-json", "other", r#"{"url": "https://h/"}"#],
        &["list", "--offline"],
        &["get", "it"],
        &["plan", "--json"],
        &["approve", "it"],
        &["disable", "it"],
        &["enable", "it"],
        &["reject", "it"],
        &["reset-project-choices"],
        &["remove", "it"],
    ];
    let (plain, behind) = (World::new(), World::new());
    for command in commands {
        let expected = plain.mcparley(command);
        assert_eq!(expected.code, 0, "{command:?}: {expected:?}");
        assert_eq!(behind.mcparley(&[&["mcp"], command].concat()), expected, "{command:?}");
    }
    assert_eq!(behind.files(), plain.files());
    assert!(!plain.files().is_empty());
    for file in plain.files() {
        assert_eq!(behind.relative(&behind.read(&file)), plain.relative(&plain.read(&file)));
    }
}

// U1
#[test]
fn without_a_command_help_is_shown_and_the_code_is_that_of_usage() {
    for args in [&[][..], &["mcp"], &["permissions"]] {
        let done = World::new().mcparley(args);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}");
        assert!(done.err.contains("Usage: mcparley"), "{done:?}");
    }
    for args in [&["--help"][..], &["add", "--help"], &["--version"]] {
        let done = World::new().mcparley(args);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
    }
}

// U2
#[test]
fn the_spellings_of_claude_code_work() {
    let files = [(
        "home/.config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {"it": {"command": "tool"}}}"#,
    )];
    let world = World::with(&files);
    world.ok(&["mcp", "add-from-claude-desktop", "-s", "user", "--yes"]);
    assert_eq!(world.plan(), ["it user ready"]);
    let ours = world.mcparley(&["auth", "idp", "status"]);
    assert_eq!(world.mcparley(&["mcp", "xaa", "show"]), ours);
    let issuer = ["--issuer", "https://idp.example", "--client-id", "me"];
    world.ok(&[&["mcp", "xaa", "setup"], &issuer[..]].concat());
    world.ok(&["mcp", "xaa", "clear"]);
}
