//! Gemini CLI.

use super::*;

const TEXT: &str = r#"{
  "theme": "Dracula",
  "mcp": { "excluded": ["shelved"] },
  "mcpServers": {
    "python": {
      "command": "python",
      "args": ["-m", "srv", "--cost", "$5", "--dir=$WORK_DIR/x"],
      "env": { "DB": "$DB_URL", "KEY": "${API_KEY}", "RAW": "s3cret", "ODD": "${not a name}" },
      "cwd": "./srv",
      "timeout": 15000,
      "trust": true,
      "includeTools": ["safe"],
      "excludeTools": ["unsafe"],
      "description": "A server"
    },
    "stream": {
      "httpUrl": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer $TOKEN" },
      "oauth": { "enabled": true, "clientId": "abc", "redirectUri": "http://localhost:7777/oauth/callback" }
    },
    "events": { "url": "https://mcp.example.com/sse" },
    "typed": { "url": "https://mcp.example.com/mcp", "type": "http", "trust": false },
    "shelved": { "command": "npx" },
    "broken": { "command": "npx", "timeout": "s3cret" }
  }
}"#;

// C16
#[test]
fn the_servers_of_gemini_cli() {
    assert_harvest(
        App::GeminiCli,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "python",
                    "at": "there:5:5",
                    "entry": {
                        "type": "stdio",
                        "command": "python",
                        "args": ["-m", "srv", "--cost", "$5", "--dir=${WORK_DIR}/x"],
                        "env": {
                            "DB": "${DB_URL}",
                            "KEY": "${API_KEY}",
                            "RAW": "s3cret",
                            "ODD": "${DOLLAR:-$}{not a name}",
                        },
                        "cwd": "./srv",
                        "timeout": 15000,
                        "disabledTools": ["unsafe"],
                        "enabledTools": ["safe"],
                    },
                    "notes": [
                        "`env.ODD`: Gemini CLI passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                        "trusted there, so its tools run without asking; here they ask until a rule allows them",
                    ],
                },
                {
                    "name": "stream",
                    "at": "there:16:5",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": { "Authorization": "Bearer ${TOKEN}" },
                        "oauth": { "clientId": "abc", "callbackPort": 7777 },
                    },
                    "notes": [],
                },
                {
                    "name": "events",
                    "at": "there:21:5",
                    "entry": { "type": "sse", "url": "https://mcp.example.com/sse" },
                    "notes": [
                        "`url` was always SSE in older Gemini CLIs; if the server speaks HTTP, make its `type` `http`",
                    ],
                },
                {
                    "name": "typed",
                    "at": "there:22:5",
                    "entry": { "type": "http", "url": "https://mcp.example.com/mcp" },
                    "notes": [],
                },
            ],
            "skipped": [
                { "name": "shelved", "at": "there:23:5", "reason": "switched off there by `mcp.excluded`" },
                { "name": "broken", "at": "there:24:5", "reason": "`timeout` is a string, not a number above zero" },
            ],
        }),
    );
}

// C16
#[test]
fn allow_list_skips_other_servers() {
    let text = r#"{ "mcp": { "allowed": ["a"] }, "mcpServers": { "a": { "command": "x" }, "b": { "command": "y" } } }"#;
    let harvest = parse_servers(App::GeminiCli, Source::from_label("there"), text).unwrap();
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(names(harvest.found.iter().map(|server| &server.name).collect()), "a");
    assert_eq!(harvest.skipped[0].reason, "switched off there by `mcp.allowed`");
}
