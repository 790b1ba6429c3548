//! opencode.

use super::*;

const TEXT: &str = r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // a comment
    "local": {
      "type": "local",
      "command": ["bun", "x", "srv", "${HOME}"],
      "environment": { "KEY": "{env:API_KEY}", "TOKEN": "{file:~/.s3cret}", "RAW": "s3cret", "JSON": "{}" },
      "enabled": true,
      "timeout": 5000,
    },
    "remote": {
      "type": "remote",
      "url": "https://{env:HOST_NAME}/mcp",
      "headers": { "Authorization": "Bearer {env:TOKEN}" },
      "oauth": { "clientId": "{env:ID}", "clientSecret": "s3cret", "scope": "a b", "redirectUri": "http://127.0.0.1:19876/x" },
    },
    "no-sign-in": { "type": "remote", "url": "https://mcp.example.com", "oauth": false },
    "off": { "type": "local", "command": ["srv"], "enabled": false },
    "empty": { "type": "local", "command": [] },
    "half": { "type": "remote" },
    "override": { "enabled": true },
  },
}"#;

// C16
#[test]
fn the_servers_of_opencode() {
    assert_harvest(
        App::OpenCode,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "local",
                    "at": "there:5:5",
                    "entry": {
                        "type": "stdio",
                        "command": "bun",
                        "args": ["x", "srv", "${DOLLAR:-$}{HOME}"],
                        "env": { "KEY": "${API_KEY}", "RAW": "s3cret", "JSON": "{}" },
                        "timeout": 5000,
                    },
                    "notes": [
                        "`args[2]`: opencode passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                        "`environment.TOKEN` is left out: its value is in a file, which cannot be referred to here",
                    ],
                },
                {
                    "name": "remote",
                    "at": "there:12:5",
                    "entry": {
                        "type": "http",
                        "url": "https://${HOST_NAME}/mcp",
                        "headers": { "Authorization": "Bearer ${TOKEN}" },
                        "oauth": { "clientId": "${ID}", "callbackPort": 19876, "scopes": "a b" },
                    },
                    "notes": ["the client's secret is not carried over; give it when signing in"],
                },
                {
                    "name": "no-sign-in",
                    "at": "there:18:5",
                    "entry": { "type": "http", "url": "https://mcp.example.com" },
                    "notes": ["not carried over: `oauth`"],
                },
            ],
            "skipped": [
                { "name": "off", "at": "there:19:5", "reason": "disabled there: `enabled` is false" },
                { "name": "empty", "at": "there:20:5", "reason": "`command` is an empty list" },
                { "name": "half", "at": "there:21:5", "reason": "there is no `url`" },
                { "name": "override", "at": "there:22:5", "reason": "there is neither `command` nor `url`" },
            ],
        }),
    );
}
