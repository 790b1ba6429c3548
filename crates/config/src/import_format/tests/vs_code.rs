//! Visual Studio Code.

use super::*;

const TEXT: &str = r#"{
  // asked for once, then kept by the editor
  "inputs": [
    { "type": "promptString", "id": "github-token", "description": "A token\nof GitHub", "password": true },
    { "type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu" },
    { "type": "promptString", "id": "path" },
  ],
  "servers": {
    "github": {
      "type": "http",
      "url": "https://api.example.com/${input:region}/mcp",
      "headers": { "Authorization": "Bearer ${input:github-token}", "X-Again": "${input:github-token}" },
      "oauth": { "clientId": "vs" },
      "gallery": true
    },
    "local": {
      "command": "${config:python.path}",
      "args": ["${input:path}", "${env:ProgramFiles(x86)}"],
      "env": { "PORT": 80, "GONE": null, "KEY": "s3cret" },
      "cwd": "${workspaceFolder}",
      "dev": { "watch": "src/**" },
    },
    "socket": { "type": "http", "url": "unix:///tmp/server.sock" },
    "strange": { "type": "carrier-pigeon", "url": "https://example.com" },
  },
}"#;

// C16
#[test]
fn the_servers_of_vs_code() {
    assert_harvest(
        App::VsCode,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "github",
                    "at": "there:9:5",
                    "entry": {
                        "type": "http",
                        "url": "https://api.example.com/${REGION:-eu}/mcp",
                        "headers": { "Authorization": "Bearer ${GITHUB_TOKEN}", "X-Again": "${GITHUB_TOKEN}" },
                        "oauth": { "clientId": "vs" },
                    },
                    "notes": [
                        "set the variable `REGION`: it stands for the input `region`",
                        "set the variable `GITHUB_TOKEN`: it stands for the input `github-token` (A token of GitHub)",
                        "not carried over: `gallery`",
                    ],
                },
                {
                    "name": "local",
                    "at": "there:16:5",
                    "entry": {
                        "type": "stdio",
                        "command": "${CONFIG_PYTHON_PATH}",
                        "args": ["${INPUT_PATH}", "${PROGRAMFILES_X86_}"],
                        "env": { "PORT": "80", "KEY": "s3cret" },
                        "cwd": ".",
                    },
                    "notes": [
                        "set the variable `CONFIG_PYTHON_PATH`: it stands for `config:python.path`, which only VS Code can fill in",
                        "set the variable `INPUT_PATH`: it stands for the input `path`",
                        "set the variable `PROGRAMFILES_X86_`: it stands for `env:ProgramFiles(x86)`, which only VS Code can fill in",
                        "`env.GONE` is null there, which unsets it; it is left out",
                        "`cwd`: `${workspaceFolder}` became `.`, the folder the server is started in",
                        "not carried over: `dev`",
                    ],
                },
            ],
            "skipped": [
                { "name": "socket", "at": "there:23:5", "reason": "`url` is not an address a server can be called at" },
                { "name": "strange", "at": "there:24:5", "reason": "`type` names no transport that is known here" },
            ],
        }),
    );
}

// C16
#[test]
fn servers_in_the_old_settings_are_found_with_their_inputs() {
    let text = r#"{
  "editor.fontSize": 12,
  "mcp": {
    "inputs": [{ "id": "key", "description": "The key" }],
    "servers": { "old": { "command": "srv", "env": { "KEY": "${input:key}" } } }
  }
}"#;
    assert_harvest(
        App::VsCode,
        text,
        &json!({
            "found": [{
                "name": "old",
                "at": "there:5:18",
                "entry": { "type": "stdio", "command": "srv", "env": { "KEY": "${KEY}" } },
                "notes": ["set the variable `KEY`: it stands for the input `key` (The key)"],
            }],
            "skipped": [],
        }),
    );
}
