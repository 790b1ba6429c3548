//! The administrator's files fail closed (C5, B33).

use mcparley::config::Severity;
use mcparley::config::plan::Enterprise;
use mcparley::model::scope::Source;

use crate::world::{World, servers};

/// A user with two servers, one of them given for this run.
fn user() -> World {
    let mut world = World::with(&[("home/.claude.json", &servers(&["mine"]))]);
    world.run_options.mcp_config = vec![servers(&["given"])];
    world
}

/// Nothing runs, the file is named, and the reason is told.
fn assert_closed(world: &World, file: &str, reason: &str) {
    let loaded = world.load();
    let why = format!("blocked: {file} cannot be read: {reason}");
    assert_eq!(world.lines(&loaded), [format!("user mine {why}"), format!("dynamic given {why}")]);
    let problem = loaded.managed_problem.unwrap();
    assert_eq!(problem.severity, Severity::Managed);
    assert_eq!(problem.origin.source, Source::from_path(world.path(file)));
    assert!(loaded.problems.contains(&problem));
    assert_eq!(
        loaded.enterprise,
        Enterprise::Broken { source: Source::from_path(world.path(file)), reason: problem.message }
    );
}

// C5 B33
#[test]
fn a_managed_file_that_is_not_json_stops_every_server() {
    for file in ["managed-mcp.json", "managed-settings.json", "managed-settings.d/10-x.json"] {
        let world = user();
        let path = format!("managed/{file}");
        world.write(&path, "{\"a\": ");
        assert_closed(&world, &path, "not JSON: expected value after colon in object property");
    }
}

// C5 B33
#[test]
fn a_managed_file_without_content_stops_every_server() {
    for (file, text) in
        [("managed-mcp.json", ""), ("managed-settings.json", " \n"), ("managed-settings.d/1.json", "// x")]
    {
        let world = user();
        let path = format!("managed/{file}");
        world.write(&path, text);
        assert_closed(&world, &path, "it is empty");
    }
}

// C5 B33
#[test]
fn a_managed_file_that_is_no_object_stops_every_server() {
    for file in ["managed-mcp.json", "managed-settings.json"] {
        let world = user();
        let path = format!("managed/{file}");
        world.write(&path, "[]");
        assert_closed(&world, &path, "`the file` is an array, not an object");
    }
}

// C5 B33
#[test]
fn a_folder_in_the_place_of_a_managed_file_stops_every_server() {
    for file in ["managed-mcp.json", "managed-settings.json"] {
        let world = user();
        let path = format!("managed/{file}");
        world.write(&format!("{path}/inner"), "");
        let whole = world.path(&path);
        let reason = world.relative(&format!("`{}` is a directory, not a file", whole.display()));
        assert_closed(&world, &path, &reason);
    }
}

// C5 B33
#[test]
fn a_file_in_the_place_of_the_managed_folder_stops_every_server() {
    let world = user();
    world.write("managed/managed-settings.d", "{}");
    assert_eq!(world.load().plan.ready_servers().count(), 0);
    assert!(world.load().managed_problem.is_some());
}

// C5 B33 B53
#[test]
fn managed_servers_in_a_list_stop_every_server() {
    let world = user();
    world.write("managed/managed-mcp.json", r#"{"mcpServers": [{"command": "x"}]}"#);
    assert_closed(&world, "managed/managed-mcp.json", "`mcpServers` is an array, not an object");
}

// C5
#[test]
fn a_broken_managed_file_stops_the_managed_servers_as_well() {
    let world = World::with(&[
        ("managed/managed-mcp.json", &servers(&["theirs"])),
        ("managed/managed-settings.json", "nonsense"),
    ]);
    assert_eq!(
        world.table(),
        [
            "enterprise theirs blocked: managed/managed-settings.json cannot be read: not JSON: unexpected word"
        ]
    );
}

// C5 C9
#[test]
fn the_parts_of_the_managed_folder_add_up() {
    let world = World::with(&[
        ("home/.claude.json", &servers(&["a", "b", "c", "d"])),
        ("managed/managed-settings.json", r#"{"deniedMcpServers": [{"serverName": "a"}]}"#),
        ("managed/managed-settings.d/10.json", r#"{"deniedMcpServers": [{"serverName": "b"}]}"#),
        ("managed/managed-settings.d/20.json", r#"{"deniedMcpServers": [{"serverName": "c"}]}"#),
        ("managed/managed-settings.d/readme.txt", "not read"),
    ]);
    let denied = |name: &str, file: &str| {
        format!("user {name} blocked: denied by policy: serverName `{name}` (managed/{file}:1:23)")
    };
    assert_eq!(
        world.table(),
        [
            denied("a", "managed-settings.json"),
            denied("b", "managed-settings.d/10.json"),
            denied("c", "managed-settings.d/20.json"),
            "user d ready".to_owned(),
        ]
    );
}

// C5 C10
#[test]
fn one_bad_managed_entry_does_not_stop_the_others() {
    let world = World::with(&[(
        "managed/managed-mcp.json",
        r#"{"mcpServers": {"bad": {"args": []}, "good": {"command": "x"}}}"#,
    )]);
    assert_eq!(
        world.table(),
        [
            "enterprise bad invalid: managed/managed-mcp.json:1:17: neither `command` nor `url` is given",
            "enterprise good ready",
        ]
    );
    assert!(world.load().managed_problem.is_none());
}

// C5
#[test]
fn a_trial_folder_counts_only_on_a_machine_without_managed_files() {
    for file in ["managed-mcp.json", "managed-settings.json", "managed-settings.d/1.json"] {
        let world = World::new();
        let trial = world.path("trial");
        assert_eq!(world.paths().with_managed_trial(&trial).managed, trial);
        world.write(&format!("managed/{file}"), "{}");
        assert_eq!(world.paths().with_managed_trial(&trial).managed, world.path("managed"));
    }
}
