//! The programs whose servers can be imported.

use std::fmt;

use serde::{Serialize, Serializer};

/// A program that keeps MCP servers in a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum App {
    /// Claude Desktop: `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Cursor: `.cursor/mcp.json`.
    Cursor,
    /// Visual Studio Code: `.vscode/mcp.json` and the user's `mcp.json`.
    VsCode,
    /// Windsurf: `mcp_config.json`.
    Windsurf,
    /// Codex: `config.toml`.
    Codex,
    /// Gemini CLI: `.gemini/settings.json`.
    GeminiCli,
    /// opencode: `opencode.json`.
    OpenCode,
    /// Zed: `settings.json`.
    Zed,
    /// Cline: `cline_mcp_settings.json`.
    Cline,
    /// Qwen Code: `.qwen/settings.json`.
    QwenCode,
}

impl App {
    /// All apps, in the order they are offered.
    pub const ALL: [Self; 10] = [
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Windsurf,
        Self::Codex,
        Self::GeminiCli,
        Self::OpenCode,
        Self::Zed,
        Self::Cline,
        Self::QwenCode,
    ];

    /// The name of the app on the command line and in `--json`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini",
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::Cline => "cline",
            Self::QwenCode => "qwen",
        }
    }

    /// The app that [`App::as_str`] calls `word`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|app| app.as_str() == word)
    }

    /// The product name of the app, as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::OpenCode => "opencode",
            Self::Zed => "Zed",
            Self::Cline => "Cline",
            Self::QwenCode => "Qwen Code",
        }
    }
}

impl fmt::Display for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for App {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
