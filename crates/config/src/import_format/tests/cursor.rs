//! Cursor.

use super::*;

const TEXT: &str = r#"{
  "mcpServers": {
    "local": {
      "type": "stdio",
      "command": "python",
      "args": ["${workspaceFolder}/tools/server.py", "--home", "${userHome}${/}notes"],
      "env": { "API_KEY": "${env:API_KEY}", "TEMPLATE": "${name}" },
      "envFile": "${workspaceFolder}/.env"
    },
    "remote": {
      "url": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer ${env:SERVICE_TOKEN}" },
      "auth": { "CLIENT_ID": "abc", "CLIENT_SECRET": "s3cret", "scopes": ["read", "write"] }
    },
    "old": { "type": "sse", "url": "https://mcp.example.com/sse" },
    "off": { "command": "npx", "disabled": true },
    "broken": { "command": "npx", "env": { "A": ["s3cret"] } }
  }
}"#;

// C16
#[test]
fn the_servers_of_cursor() {
    assert_harvest(
        App::Cursor,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "local",
                    "at": "there:3:5",
                    "entry": {
                        "type": "stdio",
                        "command": "python",
                        "args": ["./tools/server.py", "--home", "${HOME}/notes"],
                        "env": { "API_KEY": "${API_KEY}", "TEMPLATE": "${DOLLAR:-$}{name}" },
                    },
                    "notes": [
                        "`envFile` is not carried over: put the variables the server needs into `env`",
                        "`args[0]`: `${workspaceFolder}` became `.`, the folder the server is started in",
                        "`env.TEMPLATE`: Cursor passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                    ],
                },
                {
                    "name": "remote",
                    "at": "there:10:5",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": { "Authorization": "Bearer ${SERVICE_TOKEN}" },
                        "oauth": { "clientId": "abc", "scopes": "read write" },
                    },
                    "notes": ["the client's secret is not carried over; give it when signing in"],
                },
                {
                    "name": "old",
                    "at": "there:15:5",
                    "entry": { "type": "sse", "url": "https://mcp.example.com/sse" },
                    "notes": [],
                },
            ],
            "skipped": [
                { "name": "off", "at": "there:16:5", "reason": "disabled there: `disabled` is true" },
                { "name": "broken", "at": "there:17:5", "reason": "`env.A` is an array, not a string" },
            ],
        }),
    );
}
