//! Zed.

use super::*;

const TEXT: &str = r#"// Zed settings
{
  "ui_font_size": 16,
  "context_servers": {
    "new": {
      "source": "custom",
      "enabled": true,
      "command": "npx",
      "args": ["-y", "srv"],
      "env": { "KEY": "s3cret", "TEMPLATE": "${x" },
      "timeout": 90
    },
    "old": {
      "command": { "path": "/usr/bin/srv", "args": ["--stdio"], "env": { "KEY": "s3cret" } },
      "settings": {}
    },
    "remote": {
      "url": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer s3cret" },
      "oauth": { "client_id": "abc", "client_secret": "s3cret" }
    },
    "extension": { "source": "extension", "settings": { "token": "s3cret" } },
    "older-extension": { "settings": { "token": "s3cret" } },
    "off": { "command": "npx", "args": [], "enabled": false },
    "broken": { "command": ["npx"], "args": [] },
  },
}"#;

// C16
#[test]
fn the_servers_of_zed() {
    assert_harvest(
        App::Zed,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "new",
                    "at": "there:5:5",
                    "entry": {
                        "type": "stdio",
                        "command": "npx",
                        "args": ["-y", "srv"],
                        "env": { "KEY": "s3cret", "TEMPLATE": "${DOLLAR:-$}{x" },
                        "timeout": 90000,
                    },
                    "notes": [
                        "`env.TEMPLATE`: Zed passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                    ],
                },
                {
                    "name": "old",
                    "at": "there:13:5",
                    "entry": {
                        "type": "stdio",
                        "command": "/usr/bin/srv",
                        "args": ["--stdio"],
                        "env": { "KEY": "s3cret" },
                    },
                    "notes": ["not carried over: `settings`"],
                },
                {
                    "name": "remote",
                    "at": "there:17:5",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": { "Authorization": "Bearer s3cret" },
                        "oauth": { "clientId": "abc" },
                    },
                    "notes": ["the client's secret is not carried over; give it when signing in"],
                },
            ],
            "skipped": [
                {
                    "name": "extension",
                    "at": "there:22:5",
                    "reason": "it comes with a Zed extension: there is no `command` and no `url`",
                },
                {
                    "name": "older-extension",
                    "at": "there:23:5",
                    "reason": "it comes with a Zed extension: there is no `command` and no `url`",
                },
                { "name": "off", "at": "there:24:5", "reason": "disabled there: `enabled` is false" },
                { "name": "broken", "at": "there:25:5", "reason": "`command` is an array, not a string" },
            ],
        }),
    );
}
