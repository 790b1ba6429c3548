//! Editors on the command line: with `--ide`, or from an editor's own terminal.

use std::os::unix::fs::PermissionsExt;

use mcparley_testkit::HttpServer;
use serde_json::json;

use crate::world::World;

/// An editor with the project open.
fn editor(world: &World) -> (HttpServer, String) {
    let server = HttpServer::start(&["legacy-sse-only", "ide:canary-token"]);
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let path = format!("home/.claude/ide/{port}.lock");
    let lock = json!({
        "pid": server.id(),
        "workspaceFolders": [world.project],
        "ideName": "Ed",
        "transport": "sse",
        "authToken": "canary-token",
    });
    world.write(&path, &lock.to_string());
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(world.root.join(path), mode).unwrap();
    (server, port)
}

// T6 C15
#[test]
fn an_editor_is_planned_listed_and_called_when_it_is_asked_for() {
    let world = World::new();
    let (server, port) = editor(&world);
    assert_eq!(world.ok(&["plan"]), "No servers are configured.\n");
    let plan = world.ok(&["plan", "--ide"]);
    assert_eq!(plan, format!("ready           ide  dynamic     http://127.0.0.1:{port}/sse\n"));
    let list = world.ok(&["list", "--ide"]);
    assert!(list.starts_with(&format!("ide: http://127.0.0.1:{port}/sse (SSE-IDE) - ")), "{list}");
    assert!(list.contains("connected"), "{list}");
    let tools = world.ok(&["tools", "ide", "--ide"]);
    let names: Vec<&str> = tools.lines().filter_map(|line| line.trim().split('(').next()).collect();
    assert_eq!(names, ["ide", "getDiagnostics", "executeCode"]);
    assert_eq!(world.ok(&["--ide", "call", "ide", "executeCode", "code=1 + 1"]), "1 + 1\n");
    assert_eq!(world.mcparley(&["--ide", "call", "ide", "openDiff", "old_file_path=x"]).code, 5);
    for args in [&["plan", "--ide", "--json"][..], &["get", "ide", "--ide"], &["state", "--ide"]] {
        let done = world.mcparley(args);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(!format!("{done:?}").contains("canary-token"), "{done:?}");
    }
    assert_eq!(server.stats()["unauthorized"], 0);
}

// T6
#[test]
fn in_an_editors_own_terminal_nothing_need_be_asked_for() {
    let mut world = World::new();
    let (_server, port) = editor(&world);
    world.set("CLAUDE_CODE_SSE_PORT", &port);
    assert_eq!(world.plan(), ["ide dynamic ready"]);
    assert_eq!(world.ok(&["call", "mcp__ide__getDiagnostics"]), "[]\n");
    assert_eq!(world.ok(&["plan", "--strict-mcp-config"]), "No servers are configured.\n");
    world.set("CLAUDE_CODE_SSE_PORT", "1");
    let plan = world.mcparley(&["plan"]);
    assert_eq!((plan.out.as_str(), plan.err.contains("error")), ("No servers are configured.\n", false));
}

// T6 H32
#[test]
fn problems_with_an_editor_are_reported() {
    let world = World::new();
    let plan = world.mcparley(&["plan", "--ide"]);
    let told = "error: home/.claude/ide: no editor has this folder open\n\
                hint: open this folder in an editor that has the extension\n";
    assert!(plan.code == 0 && plan.err.starts_with(told), "{plan:?}");
    let (_server, port) = editor(&world);
    let path = format!("home/.claude/ide/{port}.lock");
    std::fs::set_permissions(world.root.join(&path), std::fs::Permissions::from_mode(0o644)).unwrap();
    let plan = world.mcparley(&["plan", "--ide"]);
    let told =
        format!("error: {path}: `{path}` is open to other users (mode 644)\nhint: `chmod 600 {path}`\n");
    assert!(plan.err.starts_with(&told), "{plan:?}");
}
