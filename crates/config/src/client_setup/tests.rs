//! Connections of each client: the entry in its file, the way back, and servers that are taken over.
#![expect(clippy::disallowed_methods, reason = "tests prepare files")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mcparley_model::expand::Env;
use serde_json::{Value, json};

use super::*;
use crate::change_error::ChangeError;
use crate::import::Os;
use crate::plan::PlanStatus;
use crate::sources::load_config;

mod connecting;
mod taking_over;
mod undoing;

/// A home folder with a project in it, and an executable called `mcparley` that is not on `PATH`.
struct ClientHome {
    home: PathBuf,
    paths: Paths,
    config_home: PathBuf,
    run_options: RunOptions,
    _folder: tempfile::TempDir,
}

impl ClientHome {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("home");
        let project = home.join("project");
        std::fs::create_dir_all(&project).unwrap();
        let mut paths = Paths::new(&home, &project);
        paths.executable = Some(home.join("bin/mcparley"));
        let env: Env = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into_iter().collect();
        let run_options = RunOptions { env, ..RunOptions::default() };
        let world = Self { config_home: home.join(".config"), home, paths, run_options, _folder: folder };
        world.write("bin/mcparley", "#!/bin/sh\n");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.home.join("bin/mcparley"), executable).unwrap();
        world
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.home.join(path)).unwrap()
    }

    fn exists(&self, path: &str) -> bool {
        self.home.join(path).exists()
    }

    /// Runs `act` with the configuration as it is on disk now.
    fn with_context<T>(&self, act: impl FnOnce(&SetupContext<'_>) -> T) -> T {
        let loaded = load_config(&self.paths, &self.run_options);
        act(&SetupContext {
            paths: &self.paths,
            places: ImportPaths {
                home: &self.home,
                config_home: &self.config_home,
                project: &self.paths.project,
                os: Os::Linux,
            },
            run_options: &self.run_options,
            loaded: &loaded,
        })
    }

    fn try_connect(&self, client: &str, options: &ConnectOptions) -> Result<ClientConnection, ChangeError> {
        let client = ClientProgram::parse(client).unwrap();
        self.with_context(|context| {
            let words = options.words.iter().map(|word| (*word).to_owned()).collect();
            let command = GatewayCommand::for_client(client, options.scope, words, context);
            let take_over = options.take_over;
            let request = ConnectRequest { client, scope: options.scope, command, take_over };
            let plan = plan_connection(&request, context)?;
            write_connection(&plan, context)?;
            Ok(plan)
        })
    }

    fn connect(&self, client: &str) -> ClientConnection {
        self.try_connect(client, &ConnectOptions::default()).unwrap()
    }

    fn undo(&self, client: &str) -> Vec<RestoredFile> {
        let client = ClientProgram::parse(client).unwrap();
        self.with_context(|context| undo_connection(client, SetupScope::User, context)).unwrap()
    }

    /// The path of the executable, as it stands in entries.
    fn program(&self) -> String {
        self.home.join("bin/mcparley").to_string_lossy().into_owned()
    }

    /// Every file below the home folder except our own state, with its text.
    fn files(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    found.push((relative_path(&self.home, &path), std::fs::read_to_string(&path).unwrap()))
                }
            }
        }
        found.retain(|(path, _)| !path.starts_with(".local/state"));
        found.sort();
        found
    }
}

fn relative_path(home: &Path, path: &Path) -> String {
    path.strip_prefix(home).unwrap().to_string_lossy().into_owned()
}

#[derive(Default)]
struct ConnectOptions {
    scope: SetupScope,
    words: Vec<&'static str>,
    take_over: bool,
}

/// Each client, its user file, and the JSON that the file holds after a connection.
fn expected_files(program: &str) -> Vec<(&'static str, &'static str, Value)> {
    let plain = json!({ "command": program, "args": ["serve"] });
    let typed = json!({ "type": "stdio", "command": program, "args": ["serve"] });
    let servers = |entry: &Value| json!({ "mcpServers": { "mcparley": entry } });
    vec![
        (
            "claude-code",
            ".claude.json",
            servers(&json!({ "type": "stdio", "command": program, "args": ["serve"], "env": {} })),
        ),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", servers(&plain)),
        ("cursor", ".cursor/mcp.json", servers(&typed)),
        ("vscode", ".config/Code/User/mcp.json", json!({ "servers": { "mcparley": typed } })),
        ("gemini", ".gemini/settings.json", servers(&plain)),
        (
            "opencode",
            ".config/opencode/opencode.json",
            json!({ "mcp": { "mcparley": { "type": "local", "command": [program, "serve"], "enabled": true } } }),
        ),
        ("zed", ".config/zed/settings.json", json!({ "context_servers": { "mcparley": plain } })),
        ("windsurf", ".codeium/windsurf/mcp_config.json", servers(&plain)),
        (
            "cline",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            servers(&plain),
        ),
        ("qwen", ".qwen/settings.json", servers(&plain)),
    ]
}
