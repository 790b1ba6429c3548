//! Default paths of each app's configuration files, per operating system.

use std::path::{Path, PathBuf};

use super::App;

/// The folders to search. The caller passes them in, because the library does not read its environment.
#[derive(Clone, Copy, Debug)]
pub struct ImportPaths<'a> {
    /// The home directory.
    pub home: &'a Path,
    /// `XDG_CONFIG_HOME`, or `.config` in the home directory.
    pub config_home: &'a Path,
    /// The project folder.
    pub project: &'a Path,
    /// The operating system, which decides where programs store their settings.
    pub os: Os,
}

/// The operating system, as far as settings folders differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Os {
    /// Linux and other systems that follow the XDG base directories.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The system this program was built for.
    #[must_use]
    pub fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

impl App {
    /// The configuration files of the app, most specific first: the project's, then the user's.
    ///
    /// They need not exist.
    #[must_use]
    pub fn config_files(self, places: &ImportPaths<'_>) -> Vec<PathBuf> {
        [self.project_files(places.project), self.user_files(places)].concat()
    }

    /// The configuration files of the app in a project folder, the preferred one first.
    pub(crate) fn project_files(self, project: &Path) -> Vec<PathBuf> {
        let names: &[&str] = match self {
            Self::ClaudeDesktop | Self::Windsurf | Self::Cline => &[],
            Self::Cursor => &[".cursor/mcp.json"],
            // Servers were in `settings.json` before they got a file of their own.
            Self::VsCode => &[".vscode/mcp.json", ".vscode/settings.json"],
            Self::Codex => &[".codex/config.toml"],
            Self::GeminiCli => &[".gemini/settings.json"],
            Self::QwenCode => &[".qwen/settings.json"],
            Self::OpenCode => &["opencode.json", "opencode.jsonc"],
            Self::Zed => &[".zed/settings.json"],
        };
        names.iter().map(|name| project.join(name)).collect()
    }

    /// The configuration files of the app for this user, the preferred one first.
    pub(crate) fn user_files(self, places: &ImportPaths<'_>) -> Vec<PathBuf> {
        let ImportPaths { home, config_home, .. } = *places;
        let settings = places.settings_folder();
        let code = settings.join("Code/User");
        match self {
            Self::ClaudeDesktop => vec![settings.join("Claude/claude_desktop_config.json")],
            Self::Cursor => vec![home.join(".cursor/mcp.json")],
            Self::VsCode => vec![code.join("mcp.json"), code.join("settings.json")],
            // The second file belongs to the plugin for other editors.
            Self::Windsurf => {
                vec![home.join(".codeium/windsurf/mcp_config.json"), home.join(".codeium/mcp_config.json")]
            }
            Self::Codex => vec![home.join(".codex/config.toml")],
            Self::GeminiCli => vec![home.join(".gemini/settings.json")],
            Self::QwenCode => vec![home.join(".qwen/settings.json")],
            // opencode follows the XDG base directories on every system.
            Self::OpenCode => {
                let folder = config_home.join("opencode");
                vec![folder.join("opencode.json"), folder.join("opencode.jsonc")]
            }
            Self::Zed => vec![places.zed_folder().join("settings.json")],
            // The second file belongs to Cline's command line.
            Self::Cline => vec![
                code.join("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
                home.join(".cline/data/settings/cline_mcp_settings.json"),
            ],
        }
    }
}

impl ImportPaths<'_> {
    /// Whether a file belongs to the project rather than to the user.
    ///
    /// If the project folder is the home directory or above it, every file below is the user's.
    #[must_use]
    pub fn is_project_file(&self, file: &Path) -> bool {
        file.starts_with(self.project) && !self.home.starts_with(self.project)
    }

    /// The folder in which desktop programs store their settings.
    fn settings_folder(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.config_home.to_path_buf(),
            Os::MacOs => self.home.join("Library/Application Support"),
            Os::Windows => self.home.join("AppData/Roaming"),
        }
    }

    /// Zed's settings folder; on macOS it follows neither the desktop convention nor XDG.
    fn zed_folder(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.config_home.join("zed"),
            Os::MacOs => self.home.join(".config/zed"),
            Os::Windows => self.home.join("AppData/Roaming/Zed"),
        }
    }
}
