//! Servers that move into user scope.

use super::*;

const TAKE_OVER: ConnectOptions =
    ConnectOptions { scope: SetupScope::User, words: Vec::new(), take_over: true };

const CURSOR: &str = r#"{
  // mine
  "mcpServers": {
    "files": { "command": "files-server", "args": ["${workspaceFolder}"], "env": { "KEY": "s3cret" } },
    "off": { "command": "x", "disabled": true },
    "web": { "url": "https://mcp.example.com/mcp" }
  }
}
"#;

fn plan_statuses(world: &ClientHome) -> Vec<(String, &'static str)> {
    world.with_context(|context| {
        let servers = context.loaded.plan.servers.iter();
        servers.map(|server| (server.name.as_str().to_owned(), server.status.as_str())).collect()
    })
}

// G11 C16
#[test]
fn servers_of_the_client_move_into_user_scope_and_back() {
    let world = ClientHome::new();
    world.write(".cursor/mcp.json", CURSOR);
    world.write(".claude/settings.json", "{ \"model\": \"opus\" }");
    let before = world.files();
    let plan = world.try_connect("cursor", &TAKE_OVER).unwrap();
    let taken = plan.take_over.unwrap();
    assert_eq!(taken.moved.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["files", "web"]);
    assert_eq!(taken.left.iter().map(|left| left.name.as_str()).collect::<Vec<_>>(), ["off"]);
    assert!(!format!("{taken:?}").contains("s3cret"));

    let cursor = world.read(".cursor/mcp.json");
    assert!(cursor.contains("// mine") && !cursor.contains("files-server") && cursor.contains("\"off\""));
    let settings: Value = serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    assert_eq!(settings["model"], "opus");
    assert_eq!(settings["mcpServers"]["web"]["type"], "http");
    assert!(!world.exists(".claude.json"), "Claude Code would start them beside the gateway");
    assert_eq!(plan_statuses(&world), [("files".to_owned(), "ready"), ("web".to_owned(), "ready")]);

    let restored = world.undo("cursor");
    assert_eq!(restored.len(), 2);
    assert_eq!(world.files(), before);
}

// G11
#[test]
fn servers_of_claude_code_move_to_the_file_that_only_we_read() {
    let world = ClientHome::new();
    let text = r#"{ "numStartups": 1, "mcpServers": { "a": { "command": "x" }, "b": { "type": "http", "url": "https://h/mcp" } } }"#;
    world.write(".claude.json", text);
    let before = world.files();
    assert_eq!(plan_statuses(&world).len(), 2);
    world.try_connect("claude-code", &TAKE_OVER).unwrap();
    let claude: Value = serde_json::from_str(&world.read(".claude.json")).unwrap();
    let names: Vec<&String> = claude["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["mcparley"]);
    let ready: Vec<_> = plan_statuses(&world).into_iter().filter(|(_, status)| *status == "ready").collect();
    assert_eq!(ready, [("a".to_owned(), "ready"), ("b".to_owned(), "ready")]);
    world.undo("claude-code");
    assert_eq!(world.files(), before);
}

// G11
#[test]
fn server_that_user_scope_has_already_is_only_removed_from_the_client() {
    let world = ClientHome::new();
    world.write(
        ".cursor/mcp.json",
        r#"{ "mcpServers": { "same": { "command": "x" }, "other": { "command": "y" } } }"#,
    );
    world.write(
        ".claude.json",
        r#"{ "mcpServers": { "same": { "command": "x" }, "other": { "command": "z" } } }"#,
    );
    let before = world.files();
    let plan = world.try_connect("cursor", &TAKE_OVER).unwrap();
    let taken = plan.take_over.unwrap();
    assert!(taken.moved.iter().all(|server| server.entry.is_none() && server.name == "same"));
    assert_eq!(taken.left[0].reason, "user scope has another server named `other`");
    let cursor: Value = serde_json::from_str(&world.read(".cursor/mcp.json")).unwrap();
    let names: Vec<&String> = cursor["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["other", "mcparley"]);
    world.undo("cursor");
    assert_eq!(world.files(), before);
}

// G11
#[test]
fn second_take_over_changes_nothing_and_a_later_one_can_be_undone_with_the_first() {
    let world = ClientHome::new();
    world.write(".gemini/settings.json", r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    world.connect("gemini");
    world.try_connect("gemini", &TAKE_OVER).unwrap();
    let after = world.files();
    let plan = world.try_connect("gemini", &TAKE_OVER).unwrap();
    assert!(!plan.has_changes());
    assert_eq!(world.files(), after);
    world.undo("gemini");
    assert_eq!(world.read(".gemini/settings.json"), r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    assert!(!world.exists(".claude/settings.json"));
}

// G11
#[test]
fn undo_after_other_changes_moves_the_servers_back() {
    let world = ClientHome::new();
    world.write(".codex/config.toml", "model = \"o3\"\n\n[mcp_servers.a]\ncommand = \"x\" # mine\n");
    world.write(".claude/settings.json", "{}");
    world.try_connect("codex", &TAKE_OVER).unwrap();
    world.write(".codex/config.toml", &world.read(".codex/config.toml").replace("o3", "o4"));
    let settings = world.read(".claude/settings.json");
    world.write(".claude/settings.json", &settings.replacen('{', "{ \"model\": \"opus\",", 1));
    let restored = world.undo("codex");
    assert!(restored.iter().all(|file| file.restoration == Restoration::EntriesOnly), "{restored:?}");
    let codex = world.read(".codex/config.toml");
    assert!(
        codex.contains("o4") && codex.contains("command = \"x\" # mine") && !codex.contains("mcparley"),
        "{codex}"
    );
    let settings: Value = serde_json::from_str(&world.read(".claude/settings.json")).unwrap();
    assert_eq!(settings, json!({ "model": "opus" }));
}

// G11 C7: a folder's servers stay where they need approval.
#[test]
fn servers_of_a_project_folder_are_not_taken_over() {
    let world = ClientHome::new();
    world.write("project/.cursor/mcp.json", r#"{ "mcpServers": { "a": { "command": "x" } } }"#);
    let options = ConnectOptions { scope: SetupScope::Project, ..TAKE_OVER };
    let refused = world.try_connect("cursor", &options);
    assert!(matches!(refused, Err(ChangeError::Setup(SetupError::TakeOverFromFolder))), "{refused:?}");
}

// G11
#[test]
fn servers_of_this_folder_that_claude_code_starts_too_are_named() {
    let world = ClientHome::new();
    let project = world.home.join("project").to_string_lossy().into_owned();
    let own = json!({ "mine": { "command": "x" } });
    world.write(".claude.json", &json!({ "projects": { project: { "mcpServers": own } } }).to_string());
    world.write("project/.claude/settings.local.json", r#"{ "mcpServers": { "ours": { "command": "y" } } }"#);
    assert_eq!(world.connect("claude-code").folder_servers, ["mine"]);
    assert_eq!(world.connect("cursor").folder_servers, [""; 0], "Cursor does not read that file");
}
