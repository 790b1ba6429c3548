//! Cline.

use super::*;

const TEXT: &str = r#"{
  "mcpServers": {
    "local": {
      "command": "node",
      "args": ["server.js"],
      "env": { "KEY": "${env:CLINE_KEY}", "RAW": "s3cret", "FILE": "${file:x}" },
      "disabled": false,
      "autoApprove": ["read"],
      "timeout": 60
    },
    "stream": {
      "type": "streamableHttp",
      "url": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer s3cret" },
      "autoApprove": []
    },
    "untyped": { "url": "https://mcp.example.com/sse" },
    "legacy": { "transportType": "http", "url": "https://mcp.example.com/mcp" },
    "off": { "command": "node", "disabled": true },
    "broken": { "type": "sse", "url": "s3cret" },
    "twice": { "command": "first" },
    "twice": { "command": "second" }
  }
}"#;

// C16
#[test]
fn the_servers_of_cline() {
    assert_harvest(
        App::Cline,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "local",
                    "at": "there:3:5",
                    "entry": {
                        "type": "stdio",
                        "command": "node",
                        "args": ["server.js"],
                        "env": { "KEY": "${CLINE_KEY}", "RAW": "s3cret", "FILE": "${DOLLAR:-$}{file:x}" },
                        "timeout": 60000,
                    },
                    "notes": [
                        "`env.FILE`: Cline passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                        "the tools in `autoApprove` run there without asking; here they ask until a rule allows them",
                    ],
                },
                {
                    "name": "stream",
                    "at": "there:11:5",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": { "Authorization": "Bearer s3cret" },
                    },
                    "notes": [],
                },
                {
                    "name": "untyped",
                    "at": "there:17:5",
                    "entry": { "type": "sse", "url": "https://mcp.example.com/sse" },
                    "notes": [],
                },
                {
                    "name": "legacy",
                    "at": "there:18:5",
                    "entry": { "type": "http", "url": "https://mcp.example.com/mcp" },
                    "notes": [],
                },
                {
                    "name": "twice",
                    "at": "there:22:5",
                    "entry": { "type": "stdio", "command": "second" },
                    "notes": [],
                },
            ],
            "skipped": [
                { "name": "off", "at": "there:19:5", "reason": "disabled there: `disabled` is true" },
                { "name": "broken", "at": "there:20:5", "reason": "`url` is not an address a server can be called at" },
                {
                    "name": "twice",
                    "at": "there:21:5",
                    "reason": "the same name is declared again further down, and the last one counts",
                },
            ],
        }),
    );
}
