//! Removing: which scope is meant, and names that are not there (U1).

use serde_json::json;

use crate::world::{World, refusal};

// U1
#[test]
fn a_name_in_several_scopes_must_be_told_apart() {
    let world = World::new();
    for scope in ["local", "user", "project"] {
        world.ok(&["add", "-s", scope, "it", "x"]);
    }
    assert_eq!(
        world.mcparley(&["remove", "it"]),
        refusal(
            6,
            "error: `it` is declared in several scopes: local, user, project\nhint: run `mcparley remove it -s \
             local` or `mcparley remove it -s user` or `mcparley remove it -s project`"
        )
    );
    assert_eq!(world.plan().len(), 3);
    world.ok(&["remove", "it", "-s", "project"]);
    world.ok(&["remove", "-s", "local", "it"]);
    assert_eq!(world.plan(), ["it user ready"]);
    assert_eq!(
        world.json(&["remove", "it"]),
        json!({"removed": "it", "scope": "user", "files": ["home/.claude.json"]})
    );
}

// U1
#[test]
fn a_name_that_is_not_there_brings_up_the_one_that_was_meant() {
    let world = World::new();
    world.ok(&["add", "-s", "user", "github", "x"]);
    let meant = "error: there is no server named `gihtub`\nhint: did you mean `github`?";
    for args in [&["remove", "gihtub"][..], &["get", "gihtub"], &["enable", "gihtub"], &["disable", "gihtub"]]
    {
        assert_eq!(world.mcparley(args), refusal(5, meant));
    }
    assert_eq!(
        world.mcparley(&["remove", "github", "-s", "local"]),
        refusal(
            5,
            "error: there is no server named `github` in local scope\n\
             hint: `mcparley plan` shows every configured server"
        )
    );
    assert_eq!(
        world.mcparley(&["get", "something-else"]),
        refusal(
            5,
            "error: there is no server named `something-else`\nhint: `mcparley plan` shows every configured server"
        )
    );
}

// U1 C4
#[test]
fn an_entry_is_removed_from_the_file_it_stands_in() {
    let world = World::new();
    world.ok(&["add", "-s", "user", "--file", "claude-json", "it", "x"]);
    assert_eq!(world.json(&["remove", "it"])["files"], json!(["home/.claude.json"]));
    assert_eq!(world.read_json("home/.claude.json"), json!({"mcpServers": {}}));
}

// U1 C4
#[test]
fn a_name_in_both_files_of_a_scope_is_removed_from_both() {
    let entry = r#"{"mcpServers": {"it": {"command": "x"}}}"#;
    let world = World::with(&[("home/.claude.json", entry), ("home/.claude/settings.json", entry)]);
    assert_eq!(
        world.json(&["remove", "it"])["files"],
        json!(["home/.claude/settings.json", "home/.claude.json"])
    );
    assert!(world.plan().is_empty());
}

// U1 B54
#[test]
fn odd_names_from_files_can_be_shown_and_removed() {
    let world = World::with(&[(
        "home/.claude.json",
        r#"{"mcpServers": {"a b": {"command": "x"}, "../../x": {"command": "y"}, "": {"command": "z"}}}"#,
    )]);
    for name in ["a b", "../../x", ""] {
        assert_eq!(world.json(&["get", name])["name"], name);
        world.ok(&["remove", name]);
    }
    assert!(world.plan().is_empty());
}

// U1 C3
#[test]
fn a_project_server_is_removed_from_the_nearest_file_that_has_it() {
    let mut world =
        World::with(&[("home/project/.mcp.json", r#"{"mcpServers": {"far": {"command": "x"}}}"#)]);
    world.stand_in("home/project/deep");
    world.ok(&["add", "-s", "project", "near", "x"]);
    assert_eq!(world.json(&["remove", "near"])["files"], json!(["home/project/deep/.mcp.json"]));
    assert_eq!(world.json(&["remove", "far"])["files"], json!(["home/project/.mcp.json"]));
}
