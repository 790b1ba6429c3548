//! Nothing of a project runs before the user approved its exact definition (C7, B21–B24, B27).

use mcparley::config::SettingSource;
use mcparley::config::change::{self, ChangeError, WriteScope};
use mcparley::config::plan::PlanStatus;
use mcparley::model::approval::PendingReason;

use crate::world::{World, server, servers};

const MCP: &str = "home/project/.mcp.json";

/// A project whose server `it` was approved with this entry.
fn approved(entry: &str) -> World {
    let world = World::new();
    declare(&world, entry);
    world.approve("it", None).unwrap();
    assert_eq!(world.standing("it"), PlanStatus::Ready);
    world
}

fn declare(world: &World, entry: &str) {
    world.write(MCP, &format!(r#"{{"mcpServers": {{"it": {entry}}}}}"#));
}

// C7
#[test]
fn a_project_server_waits_until_it_is_approved() {
    let world = World::with(&[(MCP, &server("it", "x"))]);
    assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Undecided));
    let chosen = world.approve("it", None).unwrap();
    assert_eq!(chosen.file, world.paths().approvals);
    assert_eq!(world.standing("it"), PlanStatus::Ready);
}

// C7 B21
#[test]
fn changed_command_needs_approval_again() {
    let changed = [
        r#"{"command": "y", "args": ["a"], "env": {"K": "v"}}"#,
        r#"{"command": "x", "args": ["b"], "env": {"K": "v"}}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v"}}"#,
        r#"{"command": "x", "args": ["a"], "env": {"K": "w"}}"#,
        r#"{"command": "x", "args": ["a"], "env": {"K": "v", "L": ""}}"#,
        r#"{"command": "x", "args": ["a"], "env": {"K": "v"}, "cwd": "/tmp"}"#,
        r#"{"command": "x", "args": ["a"], "env": {"K": "v"}, "inheritEnv": true}"#,
        r#"{"url": "https://example.com/"}"#,
    ];
    let world = approved(r#"{"command": "x", "args": ["a"], "env": {"K": "v"}}"#);
    for entry in changed {
        declare(&world, entry);
        assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Changed), "{entry}");
    }
}

// C7 B21 B26
#[test]
fn changed_endpoint_needs_approval_again() {
    let changed = [
        r#"{"url": "https://h/b", "headers": {"K": "v"}}"#,
        r#"{"url": "https://h/a", "headers": {"K": "w"}}"#,
        r#"{"type": "sse", "url": "https://h/a", "headers": {"K": "v"}}"#,
        r#"{"url": "https://h/a", "headers": {"K": "v"}, "headersHelper": "x"}"#,
        r#"{"url": "https://h/a", "headers": {"K": "v"}, "oauth": {"authServerMetadataUrl": "https://e/"}}"#,
    ];
    let world = approved(r#"{"url": "https://h/a", "headers": {"K": "v"}}"#);
    for entry in changed {
        declare(&world, entry);
        assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Changed), "{entry}");
    }
}

// C7
#[test]
fn what_does_not_change_the_launch_stays_approved() {
    let world = approved(r#"{"command": "x", "args": ["a"]}"#);
    declare(&world, r#"{"args": ["a"], "timeout": 5, "alwaysLoad": true, "x-note": 1, "command": "x"}"#);
    assert_eq!(world.standing("it"), PlanStatus::Ready);
}

// C7 B24
#[test]
fn a_rotated_token_stays_approved_and_a_changed_argument_does_not() {
    let mut world = World::new();
    world.set("X", "old");
    declare(&world, r#"{"command": "x", "env": {"K": "${X}"}}"#);
    world.approve("it", None).unwrap();
    world.set("X", "new");
    assert_eq!(world.standing("it"), PlanStatus::Ready);

    let mut world = World::new();
    world.set("X", "old");
    declare(&world, r#"{"command": "x", "args": ["${X}"]}"#);
    world.approve("it", None).unwrap();
    world.set("X", "new");
    assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Changed));
}

// C7
#[test]
fn an_approval_by_name_says_nothing_about_what_runs() {
    let world = World::with(&[
        (MCP, &server("it", "x")),
        ("home/.claude/settings.json", r#"{"enabledMcpjsonServers": ["it"]}"#),
    ]);
    assert_eq!(
        world.table(),
        ["project it needs approval: is approved by name only (home/.claude/settings.json:1:28), \
             not for what it runs"]
    );
}

// C7
#[test]
fn only_the_administrator_may_approve_every_project() {
    let all = r#"{"enableAllProjectMcpServers": true}"#;
    let world = World::with(&[(MCP, &servers(&["a", "b"])), ("home/.claude/settings.json", all)]);
    assert_eq!(world.load().plan.ready_servers().count(), 0);
    world.write("managed/managed-settings.json", all);
    assert_eq!(world.table(), ["project a ready", "project b ready"]);
}

// C7
#[test]
fn rejection_beats_every_approval() {
    for no in [
        "home/.claude/settings.json",
        "home/project/.claude/settings.json",
        "home/project/.claude/settings.local.json",
        "managed/managed-settings.json",
    ] {
        let mut world = World::with(&[(MCP, &server("it", "x"))]);
        world.approve("it", None).unwrap();
        world.run_options.setting_sources = Some(SettingSource::ALL.to_vec());
        assert_eq!(world.standing("it"), PlanStatus::Ready);
        world.write(no, r#"{"disabledMcpjsonServers": ["it"]}"#);
        assert_eq!(world.table(), [format!("project it rejected: rejected in {no}:1:29")]);
    }
}

// C7 B23
#[test]
fn an_approval_does_not_cover_another_server_whose_name_looks_the_same() {
    let world = World::with(&[(MCP, &servers(&["my.server", "my_server"]))]);
    world.approve("my.server", None).unwrap();
    assert_eq!(world.standing("my.server"), PlanStatus::Ready);
    assert_eq!(world.standing("my_server"), PlanStatus::NeedsApproval(PendingReason::Changed));
}

// C7 B23
#[test]
fn a_rejection_covers_every_spelling_of_the_name() {
    let world = World::with(&[(MCP, &servers(&["my.server", "my_server"]))]);
    change::reject_server(&world.paths(), &world.load(), "my.server", WriteScope::Local).unwrap();
    let standings = world.load().plan.servers.into_iter().map(|server| server.status.as_str());
    assert_eq!(standings.collect::<Vec<_>>(), ["rejected", "rejected"]);
}

// C7 B23
#[test]
fn two_servers_whose_names_look_the_same_can_both_be_approved() {
    let world = World::with(&[(MCP, &servers(&["my.server", "my_server"]))]);
    world.approve("my.server", None).unwrap();
    world.approve("my_server", None).unwrap();
    assert_eq!(world.table(), ["project my.server ready", "project my_server ready"]);
}

// C7 B22 H28
#[test]
fn approval_of_a_changed_entry_is_refused() {
    let world = World::with(&[(MCP, &server("it", "shown"))]);
    let seen = world.load().plan.servers_by_name("it").first().unwrap().definition.unwrap().to_string();
    world.write(MCP, &server("it", "swapped"));
    let refused = world.approve("it", Some(&seen)).unwrap_err();
    let actual = world.load().plan.servers_by_name("it").first().unwrap().definition.unwrap().to_string();
    assert_eq!(
        refused.to_string(),
        format!("`it` has changed since you looked at it: its definition is now {actual}")
    );
    assert!(!world.paths().approvals.exists());
    world.approve("it", Some(&actual)).unwrap();
    assert_eq!(world.standing("it"), PlanStatus::Ready);
}

// C7 B27
#[test]
fn non_interactive_run_uses_the_project_only_on_request() {
    let mut world = World::with(&[(MCP, &server("it", "x"))]);
    let cases = [
        (false, None, false),
        (false, Some(vec![SettingSource::User, SettingSource::Project]), true),
        (true, Some(vec![SettingSource::Project]), false),
        (true, None, false),
    ];
    for (interactive, sources, runs) in cases {
        world.run_options.interactive = interactive;
        world.run_options.setting_sources = sources;
        assert_eq!(world.load().plan.ready_servers().count(), usize::from(runs), "{:?}", world.run_options);
    }
}

// C7
#[test]
fn only_usable_project_servers_can_be_approved() {
    let world = World::with(&[
        ("home/.claude.json", &server("mine", "x")),
        (MCP, r#"{"mcpServers": {"bad": {"command": "x", "args": ["${UNSET}"]}}}"#),
    ]);
    assert!(matches!(world.approve("mine", None), Err(ChangeError::NotAProjectServer { .. })));
    assert!(matches!(world.approve("bad", None), Err(ChangeError::Unusable { .. })));
    assert!(matches!(world.approve("none", None), Err(ChangeError::NotFound { .. })));
}

// C7
#[test]
fn approval_replaces_the_users_own_rejection_and_vice_versa() {
    let world = World::with(&[(MCP, &server("it", "x"))]);
    let reject = |scope| change::reject_server(&world.paths(), &world.load(), "it", scope).unwrap();
    reject(WriteScope::User);
    reject(WriteScope::Local);
    assert_eq!(world.standing("it").as_str(), "rejected");
    world.approve("it", None).unwrap();
    assert_eq!(world.standing("it"), PlanStatus::Ready);
    reject(WriteScope::Local);
    assert_eq!(world.standing("it").as_str(), "rejected");
}
