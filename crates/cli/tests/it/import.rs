//! Servers of other programs: shown first, added when told to (C16).

use mcparley_testkit::TerminalSession;
use serde_json::{Value, json};

use crate::world::World;

const CLAUDE_JSON: &str = "home/.claude.json";

/// Each program, a file of its, and what that file says: one server `it` that runs `tool`.
const PROGRAMS: [(&str, &str, &str); 10] = [
    (
        "claude-desktop",
        "home/.config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {"it": {"command": "tool"}}}"#,
    ),
    ("cursor", "home/.cursor/mcp.json", r#"{"mcpServers": {"it": {"command": "tool"}}}"#),
    (
        "vscode",
        "home/project/.vscode/mcp.json",
        r#"{"servers": {"it": {"type": "stdio", "command": "tool"}}}"#,
    ),
    ("windsurf", "home/.codeium/windsurf/mcp_config.json", r#"{"mcpServers": {"it": {"command": "tool"}}}"#),
    ("codex", "home/.codex/config.toml", "[mcp_servers.it]\ncommand = \"tool\"\n"),
    ("gemini", "home/.gemini/settings.json", r#"{"mcpServers": {"it": {"command": "tool"}}}"#),
    (
        "opencode",
        "home/.config/opencode/opencode.json",
        r#"{"mcp": {"it": {"type": "local", "command": ["tool"]}}}"#,
    ),
    (
        "zed",
        "home/.config/zed/settings.json",
        r#"{"context_servers": {"it": {"command": "tool", "args": []}}}"#,
    ),
    (
        "cline",
        "home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        r#"{"mcpServers": {"it": {"command": "tool"}}}"#,
    ),
    ("qwen", "home/.qwen/settings.json", r#"{"mcpServers": {"it": {"command": "tool"}}}"#),
];

// C16
#[test]
fn without_a_yes_servers_are_shown_and_nothing_is_written() {
    for (program, file, text) in PROGRAMS {
        let world = World::with(&[(file, text)]);
        let done = world.mcparley(&["import", program]);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.out.starts_with(&format!("it  {program}  {file}:")), "{done:?}");
        assert!(done.out.contains(r#""command":"tool""#), "{done:?}");
        assert_eq!(done.err, "hint: no server was added; use `--yes` to add them\n");
        assert_eq!(world.files(), [file]);
    }
}

// C16
#[test]
fn with_a_yes_the_servers_of_every_program_are_added() {
    for (program, file, text) in PROGRAMS {
        let world = World::with(&[(file, text)]);
        let report = world.json(&["import", program, "--yes"]);
        assert_eq!(report["added"], json!(["it"]), "{program}: {report}");
        assert_eq!(report["failed"], json!([]));
        // C4: a user-wide file is the user's everywhere.
        let is_project_file = file.starts_with("home/project/");
        // C7 B126: one of the folder stays in the folder and waits.
        let (file, plan) = match is_project_file {
            true => ("home/project/.claude/settings.local.json", "it local needs approval"),
            false => (CLAUDE_JSON, "it user ready"),
        };
        assert_eq!(world.read_json(file)["mcpServers"]["it"]["command"], "tool");
        assert_eq!(report["files"], json!([file]));
        assert_eq!(world.plan(), [plan]);
    }
}

// C16
#[test]
fn all_programs_are_looked_at_unless_some_are_named() {
    let world = World::new();
    for (program, file, text) in PROGRAMS {
        world.write(file, &text.replace("it", program));
    }
    let report = world.json(&["import", "-s", "user", "--yes"]);
    // What comes with the folder cannot become a server for everywhere.
    let own = PROGRAMS.iter().filter(|(_, file, _)| !file.starts_with("home/project/"));
    let expected: Vec<Value> = own.map(|(program, ..)| json!(program)).collect();
    assert_eq!(report["added"], json!(expected), "{report}");
    assert_eq!(report["failed"].as_array().unwrap().len(), PROGRAMS.len() - expected.len());
    assert_eq!(world.plan().len(), expected.len());
}

// C16
#[test]
fn only_the_servers_named_are_taken_and_to_the_scope_named() {
    let world = World::with(&[(
        "home/project/there.json",
        r#"{"mcpServers": {"one": {"command": "x"}, "the other": {"command": "y"}, "third": {"command": "z"}}}"#,
    )]);
    let args = [
        "import",
        "cursor",
        "--from",
        "there.json",
        "--only",
        "one",
        "--only",
        "the other",
        "-s",
        "project",
        "-y",
    ];
    assert_eq!(world.json(&args)["added"], json!(["one", "the_other"]));
    assert_eq!(world.plan(), ["the_other project needs approval", "one project needs approval"]);
}

// C16
#[test]
fn what_is_taken_already_is_told_and_the_others_are_added() {
    let world = World::with(&[(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"taken": {"command": "x"}, "free": {"command": "y"}}}"#,
    )]);
    world.ok(&["add", "-s", "user", "taken", "mine"]);
    let report = world.json(&["import", "cursor", "-y"]);
    assert_eq!(report["added"], json!(["free"]));
    assert_eq!(
        report["failed"],
        json!([{"name": "taken", "reason": format!("`taken` already exists in user scope ({CLAUDE_JSON})")}])
    );
    assert_eq!(world.read_json(CLAUDE_JSON)["mcpServers"]["taken"]["command"], "mine");
}

// C16 C9
#[test]
fn policy_holds_for_imported_servers() {
    let world = World::with(&[
        ("home/.cursor/mcp.json", r#"{"mcpServers": {"denied": {"command": "x"}}}"#),
        ("managed/managed-settings.json", r#"{"deniedMcpServers": [{"serverName": "denied"}]}"#),
    ]);
    assert_eq!(world.json(&["import", "cursor", "-y"])["added"], json!([]));
    assert!(!world.root.join(CLAUDE_JSON).exists());
}

// C16 F77
#[test]
fn a_broken_file_of_one_program_does_not_stop_the_others() {
    let world = World::with(&[
        ("home/.cursor/mcp.json", "{"),
        ("home/.gemini/settings.json", r#"{"mcpServers": {"it": {"command": "tool"}}}"#),
    ]);
    let done = world.mcparley(&["import", "-y"]);
    assert!(done.out.ends_with("Added it to user scope: home/.claude.json\n"), "{done:?}");
    assert!(done.err.starts_with("error: home/.cursor/mcp.json"), "{done:?}");
    assert_eq!(world.mcparley(&["import", "cursor", "--from", "../.cursor/mcp.json"]).code, 3);
    assert_eq!(world.mcparley(&["import", "cursor", "--from", "missing.json"]).code, 3);
    assert_eq!(world.mcparley(&["import", "--from", "x.json"]).code, 2);
    assert_eq!(world.mcparley(&["import", "emacs"]).code, 2);
}

// C16 B62
#[test]
fn secrets_of_other_programs_are_not_shown() {
    let world = World::with(&[(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {
            "a": {"command": "x", "args": ["--token", "canary-1"], "env": {"K": "canary-2"}},
            "b": {"url": "https://h/?key=canary-3", "headers": {"Authorization": "Bearer canary-4"}}
        }}"#,
    )]);
    for args in [&["import"][..], &["import", "--json"], &["import", "-y"], &["import", "-y", "--json"]] {
        let done = world.mcparley(args);
        assert!(!format!("{done:?}").contains("canary"), "{args:?}: {done:?}");
    }
    assert!(world.read(CLAUDE_JSON).contains("canary-4"));
}

// C16 U2
#[test]
fn on_a_terminal_servers_are_chosen_by_number() {
    let servers = r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}"#;
    let world = World::with(&[("home/.cursor/mcp.json", servers)]);
    let mut session = TerminalSession::start_with_size(&world.command(&["import", "cursor"]), 40, 120);
    session.wait_for_text(" 3  c  cursor");
    session.wait_for_text("Numbers such as 1,3-5, all, or none [none]");
    session.enter_line("1,9");
    session.wait_for_text("`9` is not a number from 1 to 3");
    session.enter_line("1,3");
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    let written = world.read_json(CLAUDE_JSON);
    let names: Vec<&String> = written["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a", "c"], "{screen}");
}
