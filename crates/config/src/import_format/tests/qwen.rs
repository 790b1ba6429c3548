//! Qwen Code, which keeps the format of Gemini CLI.

use super::*;

const TEXT: &str = r#"{
  // kept by Qwen Code
  "mcp": { "excluded": ["shelved"] },
  "mcpServers": {
    "python": {
      "command": "python",
      "args": ["-m", "srv", "--dir=$WORK_DIR/x"],
      "env": { "KEY": "${API_KEY}", "RAW": "s3cret" },
      "timeout": 15000,
      "trust": true,
      "includeTools": ["safe"],
    },
    "stream": { "httpUrl": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer $TOKEN" } },
    "events": { "url": "https://mcp.example.com/sse" },
    "shelved": { "command": "npx" },
  }
}"#;

// C16
#[test]
fn the_servers_of_qwen_code() {
    assert_harvest(
        App::QwenCode,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "python",
                    "at": "there:5:5",
                    "entry": {
                        "type": "stdio",
                        "command": "python",
                        "args": ["-m", "srv", "--dir=${WORK_DIR}/x"],
                        "env": { "KEY": "${API_KEY}", "RAW": "s3cret" },
                        "timeout": 15000,
                        "enabledTools": ["safe"],
                    },
                    "notes": [
                        "trusted there, so its tools run without asking; here they ask until a rule allows them",
                    ],
                },
                {
                    "name": "stream",
                    "at": "there:13:5",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": { "Authorization": "Bearer ${TOKEN}" },
                    },
                    "notes": [],
                },
                {
                    "name": "events",
                    "at": "there:14:5",
                    "entry": { "type": "sse", "url": "https://mcp.example.com/sse" },
                    "notes": ["`url` is SSE in Qwen Code; if the server speaks HTTP, make its `type` `http`"],
                },
            ],
            "skipped": [
                { "name": "shelved", "at": "there:15:5", "reason": "switched off there by `mcp.excluded`" },
            ],
        }),
    );
}
