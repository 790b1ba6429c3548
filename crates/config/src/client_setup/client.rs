//! The clients that can be connected: their names, their files, and the questions they ask their user.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};

use super::SetupContext;
use crate::import_format::App;

/// A program that uses MCP servers and can use the gateway as one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientProgram {
    /// Claude Code, whose files we read ourselves.
    ClaudeCode,
    /// A program whose servers can also be imported.
    Importable(App),
}

/// The scope of the client's file: the user's own, or the one of the project folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupScope {
    /// For this user, in every folder.
    #[default]
    User,
    /// For all users of the project folder.
    Project,
}

impl SetupScope {
    /// The name of the scope on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl ClientProgram {
    /// All clients, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::Importable(App::ClaudeDesktop),
        Self::Importable(App::Cursor),
        Self::Importable(App::VsCode),
        Self::Importable(App::Codex),
        Self::Importable(App::GeminiCli),
        Self::Importable(App::OpenCode),
        Self::Importable(App::Zed),
        Self::Importable(App::Windsurf),
        Self::Importable(App::Cline),
        Self::Importable(App::QwenCode),
    ];

    /// The name of the client on the command line and in `--json`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Importable(app) => app.as_str(),
        }
    }

    /// The client that [`ClientProgram::as_str`] calls `word`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.as_str() == word)
    }

    /// The product name of the client, as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Importable(app) => app.title(),
        }
    }

    /// The command that starts the client in a terminal; absent if it has none.
    pub(super) fn command(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::Importable(App::ClaudeDesktop) => None,
            Self::Importable(App::VsCode) => Some("code"),
            Self::Importable(app) => Some(app.as_str()),
        }
    }

    /// Whether the client is usually started from a desktop, where `PATH` may lack the folders of the shell.
    pub(super) fn is_desktop_program(self) -> bool {
        match self {
            Self::ClaudeCode
            | Self::Importable(App::Codex | App::GeminiCli | App::OpenCode | App::QwenCode) => false,
            Self::Importable(
                App::ClaudeDesktop | App::Cursor | App::VsCode | App::Zed | App::Windsurf | App::Cline,
            ) => true,
        }
    }

    /// The file that holds the servers of this scope; absent if the client has no such file.
    ///
    /// Of several candidates it is the first that exists, or the first whose folder exists.
    #[must_use]
    pub fn config_file(self, scope: SetupScope, context: &SetupContext<'_>) -> Option<PathBuf> {
        let candidates = match (self, scope) {
            (Self::ClaudeCode, SetupScope::User) => vec![context.paths.claude.json.clone()],
            (Self::ClaudeCode, SetupScope::Project) => vec![context.paths.cwd.join(".mcp.json")],
            // The settings file of the editor held servers in the past only.
            (Self::Importable(app @ App::VsCode), scope) => {
                app_files(app, scope, context).into_iter().take(1).collect()
            }
            (Self::Importable(app), scope) => app_files(app, scope, context),
        };
        let has_folder = |file: &&PathBuf| file.parent().is_some_and(|folder| folder.is_dir());
        let existing = candidates.iter().find(|file| file.exists());
        existing.or_else(|| candidates.iter().find(has_folder)).or_else(|| candidates.first()).cloned()
    }

    /// The question that the client asks its user, in one sentence.
    #[must_use]
    pub fn consent_note(self, scope: SetupScope) -> &'static str {
        match (self, scope) {
            (Self::ClaudeCode, SetupScope::User) => {
                "Claude Code asks before the first call of each tool; \"don't ask again\" allows it for good."
            }
            (Self::ClaudeCode, SetupScope::Project) => {
                "Claude Code asks at its next start whether to use this server of the project, then before the \
                 first call of each tool."
            }
            (Self::Importable(App::ClaudeDesktop), _) => {
                "Claude Desktop asks before the first call of each tool."
            }
            (Self::Importable(App::Cursor), _) => {
                "Cursor may show the server switched off: turn it on in Settings, Tools & MCP. It asks before \
                 each call unless you allow the tool to run by itself."
            }
            (Self::Importable(App::VsCode), _) => {
                "VS Code asks whether you trust the server when it first starts, then before the first call of \
                 each tool."
            }
            (Self::Importable(App::Codex), SetupScope::User) => {
                "Codex does not ask about the server; it asks about calls as its approval policy says."
            }
            (Self::Importable(App::Codex), SetupScope::Project) => {
                "Codex reads the file only in a project that you trust; it asks about calls as its approval \
                 policy says."
            }
            (Self::Importable(App::GeminiCli), _) => {
                "Gemini CLI starts servers only in folders that you trust; it asks before each call until you \
                 allow the tool or the server."
            }
            (Self::Importable(App::OpenCode), _) => {
                "opencode does not ask about the server, nor about calls unless `permission` in its settings \
                 says `ask`."
            }
            (Self::Importable(App::Zed), SetupScope::User) => {
                "Zed asks before each call unless its settings always allow tools."
            }
            (Self::Importable(App::Zed), SetupScope::Project) => {
                "Zed asks whether you trust the project, then before each call unless its settings always \
                 allow tools."
            }
            (Self::Importable(App::Windsurf), _) => {
                "Windsurf asks before each call unless you allow the tool."
            }
            (Self::Importable(App::Cline), _) => {
                "Cline asks before each call unless you auto-approve the tool."
            }
            (Self::Importable(App::QwenCode), SetupScope::User) => {
                "Qwen Code asks before each call until you allow the tool or the server."
            }
            (Self::Importable(App::QwenCode), SetupScope::Project) => {
                "Qwen Code reads the file only in a folder that you trust; it asks before each call until you \
                 allow the tool or the server."
            }
        }
    }

    /// The step after which the client has read its file again.
    #[must_use]
    pub fn restart_note(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Start a new session, then type `/mcp` to see the server.",
            Self::Importable(App::ClaudeDesktop) => "Quit Claude Desktop completely and start it again.",
            Self::Importable(App::Cursor) => "Restart Cursor.",
            Self::Importable(App::VsCode) => "Run `MCP: List Servers` in VS Code and start the server.",
            Self::Importable(App::Codex) => "Start a new session, then type `/mcp` to see the server.",
            Self::Importable(App::GeminiCli) => "Start a new session, then type `/mcp` to see the server.",
            Self::Importable(App::OpenCode) => "Start opencode again; `opencode mcp list` shows the server.",
            Self::Importable(App::Zed) => "Zed starts the server at once; see Settings, AI, MCP Servers.",
            Self::Importable(App::Windsurf) => "Press the refresh button in the MCP panel of Windsurf.",
            Self::Importable(App::Cline) => "Cline reads the file at once; see its MCP Servers panel.",
            Self::Importable(App::QwenCode) => "Start a new session, then type `/mcp` to see the server.",
        }
    }
}

fn app_files(app: App, scope: SetupScope, context: &SetupContext<'_>) -> Vec<PathBuf> {
    match scope {
        SetupScope::User => app.user_files(&context.places),
        SetupScope::Project => app.project_files(context.places.project),
    }
}

impl fmt::Display for ClientProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ClientProgram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
