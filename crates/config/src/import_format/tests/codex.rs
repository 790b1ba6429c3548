//! Codex.

use super::*;

const TEXT: &str = r#"model = "o9"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs", "${HOME}"]
env_vars = ["LANG", { name = "DOCS_TOKEN", source = "remote" }, "SET"]
cwd = "/srv/docs"
startup_timeout_sec = 20
tool_timeout_sec = 1.5
enabled_tools = ["search"]
disabled_tools = ["drop"]

[mcp_servers.docs.env]
SET = "s3cret"
ALPHA = "1"

[mcp_servers."figma remote"]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "FIGMA_KEY" }
scopes = ["files:read", "files:write"]
oauth = { client_id = "abc" }
oauth_resource = "https://mcp.example.com"
enabled = true

[mcp_servers.off]
command = "npx"
enabled = false

[mcp_servers.leaky]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "sk-s3cret"

[mcp_servers.slow]
command = "npx"
tool_timeout_sec = -1

[mcp_servers.empty]
required = true
"#;

// C16
#[test]
fn the_servers_of_codex() {
    assert_harvest(
        App::Codex,
        TEXT,
        &json!({
            "found": [
                {
                    "name": "docs",
                    "at": "there:3:14",
                    "entry": {
                        "type": "stdio",
                        "command": "npx",
                        "args": ["-y", "docs", "${DOLLAR:-$}{HOME}"],
                        "env": { "SET": "s3cret", "ALPHA": "1", "LANG": "${LANG}", "DOCS_TOKEN": "${DOCS_TOKEN}" },
                        "cwd": "/srv/docs",
                        "timeout": 1500,
                        "disabledTools": ["drop"],
                        "enabledTools": ["search"],
                    },
                    "notes": [
                        "`args[2]`: Codex passes this `${` on as it is, so it stands here as `${DOLLAR:-$}{`, which expands to the same",
                        "`DOCS_TOKEN` comes from a remote environment there; here it is this machine's",
                        "`startup_timeout_sec` is not carried over: `MCP_TIMEOUT` is the limit for connecting here",
                    ],
                },
                {
                    "name": "figma remote",
                    "at": "there:17:14",
                    "entry": {
                        "type": "http",
                        "url": "https://mcp.example.com/mcp",
                        "headers": {
                            "X-Region": "eu",
                            "Authorization": "Bearer ${FIGMA_TOKEN}",
                            "X-Key": "${FIGMA_KEY}",
                        },
                        "oauth": { "clientId": "abc", "scopes": "files:read files:write" },
                    },
                    "notes": ["not carried over: `oauth_resource`"],
                },
            ],
            "skipped": [
                { "name": "off", "at": "there:27:14", "reason": "disabled there: `enabled` is false" },
                {
                    "name": "leaky",
                    "at": "there:31:14",
                    "reason": "`bearer_token_env_var` is not the name of a variable",
                },
                {
                    "name": "slow",
                    "at": "there:35:14",
                    "reason": "`tool_timeout_sec` is a number, not a number above zero",
                },
                { "name": "empty", "at": "there:39:14", "reason": "there is neither `command` nor `url`" },
            ],
        }),
    );
}
