//! Claude Desktop.

use super::*;

const TEXT: &str = r#"{
  "globalShortcut": "Alt+Space",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@example/files", "${HOME}/docs", 8080],
      "env": { "TOKEN": "s3cret", "PRICE": "$5" }
    },
    "broken": { "command": "npx", "args": "-y" },
    "remote": { "url": "https://mcp.example.com/mcp" },
    "nothing": {},
    "text": "npx"
  }
}
"#;

// C16
#[test]
fn the_servers_of_claude_desktop() {
    assert_harvest(
        App::ClaudeDesktop,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "files",
                    "at": "there:4:5",
                    "entry": {
                        "type": "stdio",
                        "command": "npx",
                        "args": ["-y", "@example/files", "${DOLLAR:-$}{HOME}/docs", "8080"],
                        "env": { "TOKEN": "s3cret", "PRICE": "$5" },
                    },
                    "notes": [
                        "`args[2]`: Claude Desktop passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                    ],
                },
                {
                    "name": "remote",
                    "at": "there:10:5",
                    "entry": { "type": "http", "url": "https://mcp.example.com/mcp" },
                    "notes": [],
                },
            ],
            "skipped": [
                { "name": "broken", "at": "there:9:5", "reason": "`args` is a string, not a list of strings" },
                { "name": "nothing", "at": "there:11:5", "reason": "there is neither `command` nor `url`" },
                { "name": "text", "at": "there:12:5", "reason": "it is a string, not an object" },
            ],
        }),
    );
}
