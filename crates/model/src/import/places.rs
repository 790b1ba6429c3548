//! Where each app keeps its file, on each system.

use std::path::{Path, PathBuf};

use super::App;

/// The folders to look in, handed in because the library looks nowhere itself.
#[derive(Clone, Copy, Debug)]
pub struct ImportPlaces<'a> {
    /// The home directory.
    pub home: &'a Path,
    /// `XDG_CONFIG_HOME`, or `.config` in the home directory.
    pub config_home: &'a Path,
    /// The project's folder.
    pub project: &'a Path,
    /// The system, which decides where programs keep their settings.
    pub os: Os,
}

/// An operating system, as far as folders are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Os {
    /// Linux and the other systems that follow the XDG folders.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The system this was built for.
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
    /// Where the app keeps its servers, most specific first: the project's files, then the user's.
    ///
    /// None of them need exist.
    #[must_use]
    pub fn files(self, places: &ImportPlaces<'_>) -> Vec<PathBuf> {
        let ImportPlaces { home, config_home, project, os: _ } = *places;
        let settings = places.settings();
        let code = settings.join("Code/User");
        match self {
            Self::ClaudeDesktop => vec![settings.join("Claude/claude_desktop_config.json")],
            Self::Cursor => vec![project.join(".cursor/mcp.json"), home.join(".cursor/mcp.json")],
            // Servers lived in `settings.json` before they got a file of their own.
            Self::VsCode => vec![
                project.join(".vscode/mcp.json"),
                project.join(".vscode/settings.json"),
                code.join("mcp.json"),
                code.join("settings.json"),
            ],
            // The second one belongs to the plugin for other editors.
            Self::Windsurf => {
                vec![home.join(".codeium/windsurf/mcp_config.json"), home.join(".codeium/mcp_config.json")]
            }
            Self::Codex => vec![project.join(".codex/config.toml"), home.join(".codex/config.toml")],
            Self::GeminiCli => {
                vec![project.join(".gemini/settings.json"), home.join(".gemini/settings.json")]
            }
            // opencode follows the XDG folders on every system.
            Self::OpenCode => [project, &config_home.join("opencode")]
                .into_iter()
                .flat_map(|folder| [folder.join("opencode.json"), folder.join("opencode.jsonc")])
                .collect(),
            Self::Zed => vec![project.join(".zed/settings.json"), places.zed().join("settings.json")],
            // The second one belongs to its command line.
            Self::Cline => vec![
                code.join("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
                home.join(".cline/data/settings/cline_mcp_settings.json"),
            ],
        }
    }
}

impl ImportPlaces<'_> {
    /// Whether a file belongs to the project, and not to the user.
    ///
    /// In the home directory itself, or above it, every file below is the user's.
    #[must_use]
    pub fn is_project_file(&self, file: &Path) -> bool {
        file.starts_with(self.project) && !self.home.starts_with(self.project)
    }

    /// The folder desktop programs keep their settings in.
    fn settings(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.config_home.to_path_buf(),
            Os::MacOs => self.home.join("Library/Application Support"),
            Os::Windows => self.home.join("AppData/Roaming"),
        }
    }

    /// Zed's folder; on macOS it is not where desktop programs keep theirs, nor does it follow XDG there.
    fn zed(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.config_home.join("zed"),
            Os::MacOs => self.home.join(".config/zed"),
            Os::Windows => self.home.join("AppData/Roaming/Zed"),
        }
    }
}
