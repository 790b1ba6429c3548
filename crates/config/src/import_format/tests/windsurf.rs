//! Windsurf.

use super::*;

const TEXT: &str = r#"{
  "mcpServers": {
    "figma": {
      "serverUrl": "https://mcp.example.com/mcp",
      "headers": { "API_KEY": "Bearer ${env:AUTH_TOKEN}", "X-File": "${file:/run/s3cret}", "X-Raw": "s3cret" },
      "disabledTools": ["delete_*"]
    },
    "plain": { "url": "https://mcp.example.com/sse", "type": "sse", "disabled": false },
    "local": { "command": "npx", "args": ["-y", "srv"], "env": { "T": "s3cret" }, "registry": "x" },
    "from-file": { "command": "srv", "args": ["--key", "${file:/run/s3cret}"] },
    "off": { "command": "npx", "disabled": true },
    "maybe": { "command": "npx", "disabled": "yes" }
  }
}"#;

// C16
#[test]
fn the_servers_of_windsurf() {
    assert_harvest(
        App::Windsurf,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "figma",
                    "at": "there:3:5",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": { "API_KEY": "Bearer ${AUTH_TOKEN}", "X-Raw": "s3cret" },
                        "disabledTools": ["delete_*"],
                    },
                    "notes": ["`headers.X-File` is left out: its value is in a file, which cannot be referred to here"],
                },
                {
                    "name": "plain",
                    "at": "there:8:5",
                    "entry": { "type": "sse", "url": "https://mcp.example.com/sse" },
                    "notes": [],
                },
                {
                    "name": "local",
                    "at": "there:9:5",
                    "entry": { "type": "stdio", "command": "npx", "args": ["-y", "srv"], "env": { "T": "s3cret" } },
                    "notes": ["not carried over: `registry`"],
                },
            ],
            "skipped": [
                {
                    "name": "from-file",
                    "at": "there:10:5",
                    "reason": "a part of `args[1]` is in a file, which cannot be referred to here",
                },
                { "name": "off", "at": "there:11:5", "reason": "disabled there: `disabled` is true" },
                { "name": "maybe", "at": "there:12:5", "reason": "`disabled` is a string, not true or false" },
            ],
        }),
    );
}
