//! The tools of the built-in server. All of them only look.

use mcparley_model::name::ServerName;
use serde_json::{Map, Value, json};

use crate::host::Host;

/// How many lines of a log are given unless asked otherwise.
const LINES: usize = 50;

/// The tools, as `tools/list` gives them. Unless they are offered to a model, each says that it is for nobody who does
/// not name it.
pub(super) fn list(is_offered: bool) -> Value {
    let mut tools = all();
    if !is_offered {
        for tool in tools.as_array_mut().into_iter().flatten() {
            tool["_meta"] = json!({ "ui": { "visibility": [] } });
        }
    }
    tools
}

fn all() -> Value {
    let only_looks = json!({ "readOnlyHint": true, "openWorldHint": false });
    let server = json!({ "type": "string", "description": "The server's name" });
    json!([
        {
            "name": "list_servers",
            "title": "List servers",
            "description": "Lists every MCP server of this host with its state (pending, connected, failed, \
                needs-auth, disabled), the reason, the protocol version and the number of its tools.",
            "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
            "annotations": only_looks,
        },
        {
            "name": "explain_plan",
            "title": "Explain the plan",
            "description": "Says what becomes of every configured MCP server and why: ready, needs approval, \
                rejected, blocked, disabled, shadowed, duplicate or invalid.",
            "inputSchema": {
                "type": "object",
                "properties": { "server": server },
                "additionalProperties": false,
            },
            "annotations": only_looks,
        },
        {
            "name": "echo",
            "title": "Echo",
            "description": "Gives back the message, to see that calls work.",
            "inputSchema": {
                "type": "object",
                "properties": { "message": { "type": "string", "description": "What to give back" } },
                "required": ["message"],
                "additionalProperties": false,
            },
            "annotations": only_looks,
        },
        {
            "name": "read_logs",
            "title": "Read a server's log",
            "description": "Gives the newest lines of what happened to an MCP server: connects, losses, its own \
                log messages, and the end of its standard error.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "server": server,
                    "lines": { "type": "integer", "minimum": 1, "maximum": 500, "default": LINES },
                },
                "required": ["server"],
                "additionalProperties": false,
            },
            "annotations": only_looks,
        },
    ])
}

/// Calls a tool; nothing if there is no such one.
pub(super) fn call(
    name: &str,
    arguments: &Map<String, Value>,
    host: &Host,
) -> Option<Result<String, String>> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    match name {
        "list_servers" => Some(list_servers(host)),
        "explain_plan" => Some(explain_plan(host, text("server"))),
        "echo" => Some(Ok(text("message").unwrap_or_default().to_owned())),
        "read_logs" => {
            let lines = arguments.get("lines").and_then(Value::as_u64);
            let lines = lines.and_then(|lines| usize::try_from(lines).ok()).unwrap_or(LINES);
            Some(read_logs(host, text("server").unwrap_or_default(), lines))
        }
        _ => None,
    }
}

fn list_servers(host: &Host) -> Result<String, String> {
    let servers: Vec<Value> = host
        .state()
        .clients
        .into_iter()
        .map(|client| {
            let tools = host.current().iter().filter(|entry| entry.server() == Some(&client.name)).count();
            json!({
                "name": client.name, "type": client.kind, "state": client.state, "reason": client.reason,
                "protocol": client.protocol, "tools": tools,
            })
        })
        .collect();
    written(&servers)
}

fn explain_plan(host: &Host, only: Option<&str>) -> Result<String, String> {
    let loaded = host.loaded();
    let servers: Vec<Value> = loaded
        .plan
        .servers
        .iter()
        .filter(|server| only.is_none_or(|name| server.name.as_str() == name))
        .map(|server| {
            json!({
                "name": server.name, "scope": server.scope, "standing": server.standing,
                "origin": server.origin,
            })
        })
        .collect();
    match only {
        Some(name) if servers.is_empty() => Err(format!("no server named `{name}` is configured")),
        _ => written(&servers),
    }
}

fn read_logs(host: &Host, name: &str, most: usize) -> Result<String, String> {
    let Some((lines, stderr)) = host.logs(&ServerName::new(name)) else {
        return Err(format!("there is no server `{name}`"));
    };
    let newest = lines.len().saturating_sub(most);
    let lines = lines.get(newest..).unwrap_or_default();
    let stderr = stderr.clean().into_owned();
    let stderr: Vec<&str> = stderr.lines().collect();
    let newest = stderr.len().saturating_sub(most);
    written(&json!({ "lines": lines, "stderr": stderr.get(newest..).unwrap_or_default() }))
}

fn written(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map_err(|error| error.to_string())
}
