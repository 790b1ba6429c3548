//! The way back.

use super::*;

// G11
#[test]
fn undo_leaves_every_file_byte_for_byte_as_before() {
    let world = ClientHome::new();
    world.write(
        ".claude.json",
        "{\n\t\"numStartups\": 3,\n\t\"mcpServers\": { \"a\": {\"command\":\"x\"} }\n}",
    );
    world.write(".codex/config.toml", "model = 'o3'\r\n[mcp_servers]\r\na = { command = \"x\" }\r\n");
    world.write(".config/zed/settings.json", "// only a comment\n{}");
    world.write(".gemini/settings.json", "");
    let before = world.files();
    for client in ClientProgram::ALL {
        world.connect(client.as_str());
    }
    assert_ne!(world.files(), before);
    for client in ClientProgram::ALL {
        let restored = world.undo(client.as_str());
        assert!(
            restored
                .iter()
                .all(|file| matches!(file.restoration, Restoration::Restored | Restoration::Removed)),
            "{client}: {restored:?}"
        );
    }
    assert_eq!(world.files(), before);
    for folder in [".cursor", ".config/Claude", ".config/opencode", ".codeium", ".qwen"] {
        assert!(!world.exists(folder), "{folder} was created for the file and is removed with it");
    }
    let records = world.paths.client_setups.read_dir().map(Iterator::count).unwrap_or_default();
    assert_eq!(records, 0, "an undo leaves no backup behind");
}

// G11
#[test]
fn undo_keeps_the_mode_of_the_file_and_its_link() {
    let world = ClientHome::new();
    world.write("dotfiles/mcp.json", "{}");
    let target = world.home.join("dotfiles/mcp.json");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir_all(world.home.join(".cursor")).unwrap();
    std::os::unix::fs::symlink(&target, world.home.join(".cursor/mcp.json")).unwrap();
    world.connect("cursor");
    let backup_modes = world.with_context(|context| {
        let folders =
            std::fs::read_dir(&context.paths.client_setups).unwrap().map(|entry| entry.unwrap().path());
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
        files.map(|file| file.unwrap().metadata().unwrap().permissions().mode() & 0o777).collect::<Vec<_>>()
    });
    assert_eq!(backup_modes, [0o600, 0o600], "backup and record are for the owner only");
    world.undo("cursor");
    assert_eq!(world.read("dotfiles/mcp.json"), "{}");
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(world.home.join(".cursor/mcp.json").is_symlink());
}

// G11
#[test]
fn undo_after_other_changes_takes_out_only_the_entry() {
    let world = ClientHome::new();
    world.write(".claude.json", "{\n  \"numStartups\": 1\n}\n");
    world.connect("claude-code");
    let text = world.read(".claude.json").replace("\"numStartups\": 1", "\"numStartups\": 2");
    world.write(".claude.json", &text);
    let restored = world.undo("claude-code");
    assert_eq!(restored[0].restoration, Restoration::EntriesOnly);
    assert_eq!(world.read(".claude.json"), "{\n  \"numStartups\": 2\n}\n");
}

// G11
#[test]
fn undo_of_a_created_file_with_other_changes_keeps_them() {
    let world = ClientHome::new();
    world.connect("codex");
    let text = format!("model = \"o3\"\n{}", world.read(".codex/config.toml"));
    world.write(".codex/config.toml", &text);
    let restored = world.undo("codex");
    assert_eq!(restored[0].restoration, Restoration::EntriesOnly);
    assert_eq!(world.read(".codex/config.toml").trim_end(), "model = \"o3\"");
}

// G11
#[test]
fn undo_after_changes_between_two_connections_leaves_no_gateway_behind() {
    let world = ClientHome::new();
    world.write(".claude.json", "{\n  \"numStartups\": 1\n}\n");
    world.connect("claude-code");
    let text = world.read(".claude.json").replace("\"numStartups\": 1", "\"numStartups\": 2");
    world.write(".claude.json", &text);
    let options = ConnectOptions { words: vec!["--only", "files"], ..ConnectOptions::default() };
    world.try_connect("claude-code", &options).unwrap();
    let restored = world.undo("claude-code");
    assert_eq!(restored[0].restoration, Restoration::Restored);
    assert_eq!(world.read(".claude.json"), "{\n  \"numStartups\": 2\n}\n");
}

// G11
#[test]
fn undo_puts_back_the_entry_that_was_replaced() {
    let world = ClientHome::new();
    let entry = format!(r#"{{ "mcpServers": {{ "mine": {{ "command": "{}" }} }} }}"#, world.program());
    world.write(".cursor/mcp.json", &entry);
    assert_eq!(world.connect("cursor").change, ConnectionChange::Replace);
    world.undo("cursor");
    assert_eq!(world.read(".cursor/mcp.json"), entry);
}

// G11
#[test]
fn there_is_nothing_to_undo_without_a_connection() {
    let world = ClientHome::new();
    let undo = |world: &ClientHome| {
        let client = ClientProgram::parse("cursor").unwrap();
        world.with_context(|context| undo_connection(client, SetupScope::User, context))
    };
    assert!(matches!(undo(&world), Err(ChangeError::Setup(SetupError::NotConnected { entry: None, .. }))));
    world.connect("cursor");
    world.undo("cursor");
    assert!(matches!(undo(&world), Err(ChangeError::Setup(SetupError::NotConnected { entry: None, .. }))));
    let entry = r#"{ "mcpServers": { "mine": { "command": "mcparley" } } }"#;
    world.write(".cursor/mcp.json", entry);
    assert!(
        matches!(undo(&world), Err(ChangeError::Setup(SetupError::NotConnected { entry: Some(name), .. })) if name == "mine")
    );
    assert_eq!(world.read(".cursor/mcp.json"), entry);
}
