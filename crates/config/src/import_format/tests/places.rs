//! Default paths of the apps' files.

use std::path::{Path, PathBuf};

use super::*;

fn files(app: App, os: Os) -> Vec<PathBuf> {
    let places = ImportPaths {
        home: Path::new("/home/me"),
        config_home: Path::new("/xdg"),
        project: Path::new("/project"),
        os,
    };
    app.config_files(&places)
}

fn assert_files(os: Os, expected: &[(App, &[&str])]) {
    assert_eq!(expected.len(), App::ALL.len());
    for (app, expected) in expected {
        assert_eq!(files(*app, os), expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{app}");
    }
}

/// The files with the same path on every system.
const CURSOR: &[&str] = &["/project/.cursor/mcp.json", "/home/me/.cursor/mcp.json"];
const WINDSURF: &[&str] =
    &["/home/me/.codeium/windsurf/mcp_config.json", "/home/me/.codeium/mcp_config.json"];
const CODEX: &[&str] = &["/project/.codex/config.toml", "/home/me/.codex/config.toml"];
const GEMINI: &[&str] = &["/project/.gemini/settings.json", "/home/me/.gemini/settings.json"];
const QWEN: &[&str] = &["/project/.qwen/settings.json", "/home/me/.qwen/settings.json"];
const OPEN_CODE: &[&str] = &[
    "/project/opencode.json",
    "/project/opencode.jsonc",
    "/xdg/opencode/opencode.json",
    "/xdg/opencode/opencode.jsonc",
];

// C16
#[test]
fn the_files_on_linux() {
    assert_files(
        Os::Linux,
        &[
            (App::ClaudeDesktop, &["/xdg/Claude/claude_desktop_config.json"]),
            (App::Cursor, CURSOR),
            (
                App::VsCode,
                &[
                    "/project/.vscode/mcp.json",
                    "/project/.vscode/settings.json",
                    "/xdg/Code/User/mcp.json",
                    "/xdg/Code/User/settings.json",
                ],
            ),
            (App::Windsurf, WINDSURF),
            (App::Codex, CODEX),
            (App::GeminiCli, GEMINI),
            (App::OpenCode, OPEN_CODE),
            (App::Zed, &["/project/.zed/settings.json", "/xdg/zed/settings.json"]),
            (
                App::Cline,
                &[
                    "/xdg/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "/home/me/.cline/data/settings/cline_mcp_settings.json",
                ],
            ),
            (App::QwenCode, QWEN),
        ],
    );
}

// C16
#[test]
fn the_files_on_macos() {
    assert_files(
        Os::MacOs,
        &[
            (App::ClaudeDesktop, &["/home/me/Library/Application Support/Claude/claude_desktop_config.json"]),
            (App::Cursor, CURSOR),
            (
                App::VsCode,
                &[
                    "/project/.vscode/mcp.json",
                    "/project/.vscode/settings.json",
                    "/home/me/Library/Application Support/Code/User/mcp.json",
                    "/home/me/Library/Application Support/Code/User/settings.json",
                ],
            ),
            (App::Windsurf, WINDSURF),
            (App::Codex, CODEX),
            (App::GeminiCli, GEMINI),
            (App::OpenCode, OPEN_CODE),
            (App::Zed, &["/project/.zed/settings.json", "/home/me/.config/zed/settings.json"]),
            (
                App::Cline,
                &[
                    "/home/me/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "/home/me/.cline/data/settings/cline_mcp_settings.json",
                ],
            ),
            (App::QwenCode, QWEN),
        ],
    );
}

// C16
#[test]
fn the_files_on_windows() {
    assert_files(
        Os::Windows,
        &[
            (App::ClaudeDesktop, &["/home/me/AppData/Roaming/Claude/claude_desktop_config.json"]),
            (App::Cursor, CURSOR),
            (
                App::VsCode,
                &[
                    "/project/.vscode/mcp.json",
                    "/project/.vscode/settings.json",
                    "/home/me/AppData/Roaming/Code/User/mcp.json",
                    "/home/me/AppData/Roaming/Code/User/settings.json",
                ],
            ),
            (App::Windsurf, WINDSURF),
            (App::Codex, CODEX),
            (App::GeminiCli, GEMINI),
            (App::OpenCode, OPEN_CODE),
            (App::Zed, &["/project/.zed/settings.json", "/home/me/AppData/Roaming/Zed/settings.json"]),
            (
                App::Cline,
                &[
                    "/home/me/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "/home/me/.cline/data/settings/cline_mcp_settings.json",
                ],
            ),
            (App::QwenCode, QWEN),
        ],
    );
}
