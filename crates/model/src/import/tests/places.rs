//! Where the files are.

use std::path::{Path, PathBuf};

use super::*;

fn files(app: App, os: Os) -> Vec<PathBuf> {
    let places = ImportPlaces {
        home: Path::new("/home/ada"),
        config_home: Path::new("/xdg"),
        project: Path::new("/work"),
        os,
    };
    app.files(&places)
}

fn assert_files(os: Os, expected: &[(App, &[&str])]) {
    assert_eq!(expected.len(), App::ALL.len());
    for (app, expected) in expected {
        assert_eq!(files(*app, os), expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{app}");
    }
}

/// The files that are in the same place on every system.
const CURSOR: &[&str] = &["/work/.cursor/mcp.json", "/home/ada/.cursor/mcp.json"];
const WINDSURF: &[&str] =
    &["/home/ada/.codeium/windsurf/mcp_config.json", "/home/ada/.codeium/mcp_config.json"];
const CODEX: &[&str] = &["/work/.codex/config.toml", "/home/ada/.codex/config.toml"];
const GEMINI: &[&str] = &["/work/.gemini/settings.json", "/home/ada/.gemini/settings.json"];
const OPEN_CODE: &[&str] = &[
    "/work/opencode.json",
    "/work/opencode.jsonc",
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
                    "/work/.vscode/mcp.json",
                    "/work/.vscode/settings.json",
                    "/xdg/Code/User/mcp.json",
                    "/xdg/Code/User/settings.json",
                ],
            ),
            (App::Windsurf, WINDSURF),
            (App::Codex, CODEX),
            (App::GeminiCli, GEMINI),
            (App::OpenCode, OPEN_CODE),
            (App::Zed, &["/work/.zed/settings.json", "/xdg/zed/settings.json"]),
            (
                App::Cline,
                &[
                    "/xdg/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "/home/ada/.cline/data/settings/cline_mcp_settings.json",
                ],
            ),
        ],
    );
}

// C16
#[test]
fn the_files_on_macos() {
    assert_files(
        Os::MacOs,
        &[
            (
                App::ClaudeDesktop,
                &["/home/ada/Library/Application Support/Claude/claude_desktop_config.json"],
            ),
            (App::Cursor, CURSOR),
            (
                App::VsCode,
                &[
                    "/work/.vscode/mcp.json",
                    "/work/.vscode/settings.json",
                    "/home/ada/Library/Application Support/Code/User/mcp.json",
                    "/home/ada/Library/Application Support/Code/User/settings.json",
                ],
            ),
            (App::Windsurf, WINDSURF),
            (App::Codex, CODEX),
            (App::GeminiCli, GEMINI),
            (App::OpenCode, OPEN_CODE),
            (App::Zed, &["/work/.zed/settings.json", "/home/ada/.config/zed/settings.json"]),
            (
                App::Cline,
                &[
                    "/home/ada/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "/home/ada/.cline/data/settings/cline_mcp_settings.json",
                ],
            ),
        ],
    );
}

// C16
#[test]
fn the_files_on_windows() {
    assert_files(
        Os::Windows,
        &[
            (App::ClaudeDesktop, &["/home/ada/AppData/Roaming/Claude/claude_desktop_config.json"]),
            (App::Cursor, CURSOR),
            (
                App::VsCode,
                &[
                    "/work/.vscode/mcp.json",
                    "/work/.vscode/settings.json",
                    "/home/ada/AppData/Roaming/Code/User/mcp.json",
                    "/home/ada/AppData/Roaming/Code/User/settings.json",
                ],
            ),
            (App::Windsurf, WINDSURF),
            (App::Codex, CODEX),
            (App::GeminiCli, GEMINI),
            (App::OpenCode, OPEN_CODE),
            (App::Zed, &["/work/.zed/settings.json", "/home/ada/AppData/Roaming/Zed/settings.json"]),
            (
                App::Cline,
                &[
                    "/home/ada/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    "/home/ada/.cline/data/settings/cline_mcp_settings.json",
                ],
            ),
        ],
    );
}
