//! The entry in the file of each client.

use super::*;

// G11 C16
#[test]
fn entry_has_the_format_of_each_client() {
    let world = ClientHome::new();
    for (client, file, expected) in expected_files(&world.program()) {
        let plan = world.connect(client);
        assert_eq!(plan.change, ConnectionChange::Add, "{client}");
        let text = world.read(file);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "{client}");
        let mode = world.home.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{client}: a file of the user is private");
    }
    world.connect("codex");
    let entry = format!("[mcp_servers.mcparley]\ncommand = \"{}\"\nargs = [\"serve\"]\n", world.program());
    assert_eq!(world.read(".codex/config.toml"), entry);
}

// G11: comments, order, unknown keys and line ends stay.
#[test]
fn everything_else_in_the_file_stays_as_it_is() {
    let world = ClientHome::new();
    let zed = "// my settings\r\n{\r\n  \"theme\": \"One Dark\", // nice\r\n  \"context_servers\": {\r\n    \"a\": { \"command\": \"x\" },\r\n  },\r\n}\r\n";
    world.write(".config/zed/settings.json", zed);
    world.connect("zed");
    let text = world.read(".config/zed/settings.json");
    assert!(text.starts_with("// my settings\r\n{\r\n  \"theme\": \"One Dark\", // nice\r\n"), "{text}");
    assert!(text.contains("\"a\": { \"command\": \"x\" },"), "{text}");

    let codex = "# mine\nmodel = \"o3\" # the model\n\n[mcp_servers.a]\ncommand = \"x\" # keep\n\n[profiles.b]\nmodel = \"y\"\n";
    world.write(".codex/config.toml", codex);
    world.connect("codex");
    let text = world.read(".codex/config.toml");
    let entry = format!("\n[mcp_servers.mcparley]\ncommand = \"{}\"\nargs = [\"serve\"]\n", world.program());
    assert_eq!(text.replace(&entry, ""), codex);
}

// G11
#[test]
fn second_connection_changes_nothing() {
    let world = ClientHome::new();
    for client in ClientProgram::ALL {
        world.connect(client.as_str());
        let before = world.files();
        let plan = world.connect(client.as_str());
        assert_eq!((plan.change, plan.has_changes()), (ConnectionChange::None, false), "{client}");
        assert_eq!(world.files(), before, "{client}");
    }
}

// G11
#[test]
fn other_options_replace_the_entry_and_undo_goes_back_to_the_beginning() {
    let world = ClientHome::new();
    let text = "{ \"mcpServers\": {} }";
    world.write(".cursor/mcp.json", text);
    world.connect("cursor");
    let options = ConnectOptions { words: vec!["--tools", "files__*"], ..ConnectOptions::default() };
    let plan = world.try_connect("cursor", &options).unwrap();
    assert_eq!(plan.change, ConnectionChange::Replace);
    let written: Value = serde_json::from_str(&world.read(".cursor/mcp.json")).unwrap();
    assert_eq!(written["mcpServers"]["mcparley"]["args"], json!(["serve", "--tools", "files__*"]));
    world.undo("cursor");
    assert_eq!(world.read(".cursor/mcp.json"), text);
}

// G11
#[test]
fn name_of_another_server_is_never_replaced() {
    let world = ClientHome::new();
    let text = r#"{ "mcpServers": { "mcparley": { "command": "other" } } }"#;
    world.write(".cursor/mcp.json", text);
    let refused = world.try_connect("cursor", &ConnectOptions::default());
    assert!(matches!(refused, Err(ChangeError::Setup(SetupError::GatewayNameTaken { .. }))), "{refused:?}");
    assert_eq!(world.read(".cursor/mcp.json"), text);
}

// G11
#[test]
fn entry_of_the_users_own_making_counts_as_connected() {
    let world = ClientHome::new();
    let text = format!(
        r#"{{ "mcpServers": {{ "mine": {{ "command": "{}", "args": ["serve"], "note": 1 }} }} }}"#,
        world.program()
    );
    world.write(".cursor/mcp.json", &text);
    let plan = world.connect("cursor");
    assert_eq!((plan.name.as_str(), plan.change), ("mine", ConnectionChange::None));
    assert_eq!(world.read(".cursor/mcp.json"), text);
}

// G11
#[test]
fn file_that_does_not_parse_is_refused_and_not_touched() {
    let world = ClientHome::new();
    for (client, file, text) in
        [("cursor", ".cursor/mcp.json", "{ oops"), ("codex", ".codex/config.toml", "a = [\nb")]
    {
        world.write(file, text);
        let refused = world.try_connect(client, &ConnectOptions::default());
        assert!(matches!(refused, Err(ChangeError::Edit(_))), "{client}: {refused:?}");
        assert_eq!(world.read(file), text, "{client}");
    }
}

// G11
#[test]
fn project_scope_writes_the_file_of_the_project_for_everybody() {
    let world = ClientHome::new();
    let options = ConnectOptions { scope: SetupScope::Project, ..ConnectOptions::default() };
    for (client, file) in [
        ("claude-code", "project/.mcp.json"),
        ("cursor", "project/.cursor/mcp.json"),
        ("vscode", "project/.vscode/mcp.json"),
        ("codex", "project/.codex/config.toml"),
        ("gemini", "project/.gemini/settings.json"),
        ("opencode", "project/opencode.json"),
        ("zed", "project/.zed/settings.json"),
        ("qwen", "project/.qwen/settings.json"),
    ] {
        world.try_connect(client, &options).unwrap();
        assert!(world.exists(file), "{client}");
        let mode = world.home.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{client}");
    }
    for client in ["claude-desktop", "windsurf", "cline"] {
        let refused = world.try_connect(client, &options);
        assert!(
            matches!(refused, Err(ChangeError::Setup(SetupError::NoProjectFile { .. }))),
            "{client}: {refused:?}"
        );
    }
}

// G11
#[test]
fn program_on_the_path_is_named_without_its_folder_except_on_the_desktop() {
    let mut world = ClientHome::new();
    let path = format!("{}:/usr/bin", world.home.join("bin").display());
    world.run_options.env = [("PATH".to_owned(), path)].into_iter().collect();
    world.connect("claude-code");
    let text: Value = serde_json::from_str(&world.read(".claude.json")).unwrap();
    assert_eq!(text["mcpServers"]["mcparley"]["command"], "mcparley");
    world.connect("claude-desktop");
    let text: Value = serde_json::from_str(&world.read(".config/Claude/claude_desktop_config.json")).unwrap();
    assert_eq!(text["mcpServers"]["mcparley"]["command"], json!(world.program()));
}

// C18 G11
#[test]
fn our_own_entry_never_starts_us_inside_ourselves() {
    let world = ClientHome::new();
    world.connect("claude-code");
    let scope = SetupScope::Project;
    world.try_connect("claude-code", &ConnectOptions { scope, ..ConnectOptions::default() }).unwrap();
    for client in ClientProgram::ALL {
        world.connect(client.as_str());
    }
    world.with_context(|context| {
        let statuses: Vec<_> = context.loaded.plan.servers.iter().map(|server| &server.status).collect();
        assert_eq!(statuses.len(), 2, "the entries in .claude.json and .mcp.json");
        assert!(statuses.iter().all(|status| matches!(status, PlanStatus::Skipped(_))), "{statuses:?}");
        let mut search = crate::import::find_servers(&crate::import::Program::ALL, &context.places);
        search.skip_mcparley(context.loaded);
        let found = search.found.iter().map(|file| file.harvest.found.len()).sum::<usize>();
        assert_eq!((found, search.found.len()), (0, 10), "each importer finds the entry and skips it");
    });
}

// G11: opencode 2 keeps its servers one level deeper.
#[test]
fn opencode_2_gets_the_entry_among_its_servers() {
    let world = ClientHome::new();
    let text = r#"{ "mcp": { "servers": { "a": { "type": "local", "command": ["x"] } } } }"#;
    world.write(".config/opencode/opencode.json", text);
    world.connect("opencode");
    let written: Value = serde_json::from_str(&world.read(".config/opencode/opencode.json")).unwrap();
    let entry = json!({ "type": "local", "command": [world.program(), "serve"] });
    assert_eq!(written["mcp"]["servers"]["mcparley"], entry);
    world.undo("opencode");
    assert_eq!(world.read(".config/opencode/opencode.json"), text);
}

// G11
#[test]
fn clients_are_listed_with_their_state() {
    let world = ClientHome::new();
    world.write(".cursor/argv.json", "{}");
    world.connect("codex");
    world.write(".qwen/settings.json", "{ oops");
    let states = world.with_context(|context| {
        let state = |status: &ClientStatus| {
            let has_problem = status.files.iter().any(|file| file.problem.is_some());
            (status.client.as_str(), status.installed, status.is_connected(), has_problem)
        };
        list_clients(context).iter().map(state).collect::<Vec<_>>()
    });
    assert_eq!(states.len(), 11);
    assert!(states.contains(&("cursor", true, false, false)), "{states:?}");
    assert!(states.contains(&("codex", true, true, false)), "{states:?}");
    assert!(states.contains(&("qwen", true, false, true)), "{states:?}");
    assert!(states.contains(&("windsurf", false, false, false)), "{states:?}");
}
