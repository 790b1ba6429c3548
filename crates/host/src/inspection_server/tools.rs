//! The tools of the built-in server. All of them are read-only.

use mcparley_model::name::ServerName;
use serde_json::{Value, json};

use super::HostCell;
use crate::host::Host;
use crate::in_process::InProcessServer;

/// The default number of log lines that are returned.
const LINES: usize = 50;

/// The implementation of one tool: reads the host with the arguments of a call.
type InspectFn = fn(&Host, &Value) -> Result<String, String>;

const LOOKS: [InspectFn; 4] = [list_servers, explain_plan, echo, read_logs];

/// Adds all tools. Unless they are offered to a model, each is marked as visible only to callers that name
/// it.
pub(super) fn add_tools(mut server: InProcessServer, cell: &HostCell, is_offered: bool) -> InProcessServer {
    for (mut definition, look) in tool_definitions().into_iter().zip(LOOKS) {
        if !is_offered {
            definition["_meta"] = json!({ "ui": { "visibility": [] } });
        }
        let cell = cell.clone();
        server = server.tool_from_definition(definition, move |arguments: Value| {
            let host = cell.host().ok_or_else(|| "the host has ended".to_owned());
            std::future::ready(host.and_then(|host| look(&host, &arguments)))
        });
    }
    server
}

/// The tools as `tools/list` returns them, in the order of [`LOOKS`].
fn tool_definitions() -> [Value; 4] {
    let only_looks = json!({ "readOnlyHint": true, "openWorldHint": false });
    let server = json!({ "type": "string", "description": "The server's name" });
    [
        json!({
            "name": "list_servers",
            "title": "List servers",
            "description": "Lists every MCP server of this host with its state (pending, connected, failed, \
                needs-auth, disabled), the reason, the protocol version and the number of its tools.",
            "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
            "annotations": only_looks,
        }),
        json!({
            "name": "explain_plan",
            "title": "Explain the plan",
            "description": "Reports the status of every configured MCP server: ready, needs approval, \
                rejected, blocked, disabled, shadowed, duplicate or invalid.",
            "inputSchema": {
                "type": "object",
                "properties": { "server": server },
                "additionalProperties": false,
            },
            "annotations": only_looks,
        }),
        json!({
            "name": "echo",
            "title": "Echo",
            "description": "Returns the message, to check that calls work.",
            "inputSchema": {
                "type": "object",
                "properties": { "message": { "type": "string", "description": "The message to return" } },
                "required": ["message"],
                "additionalProperties": false,
            },
            "annotations": only_looks,
        }),
        json!({
            "name": "read_logs",
            "title": "Read a server's log",
            "description": "Returns the newest log lines of an MCP server: connects, losses, its own \
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
        }),
    ]
}

fn list_servers(host: &Host, _arguments: &Value) -> Result<String, String> {
    let servers: Vec<Value> = host
        .state()
        .clients
        .into_iter()
        .map(|client| {
            let tools = host.catalog().iter().filter(|entry| entry.server() == Some(&client.name)).count();
            json!({
                "name": client.name, "type": client.kind, "state": client.state, "reason": client.reason,
                "protocol": client.protocol, "tools": tools,
            })
        })
        .collect();
    to_pretty_json(&servers)
}

fn explain_plan(host: &Host, arguments: &Value) -> Result<String, String> {
    let only = arguments["server"].as_str();
    let loaded = host.loaded_config();
    let servers: Vec<Value> = loaded
        .plan
        .servers
        .iter()
        .filter(|server| only.is_none_or(|name| server.name.as_str() == name))
        .map(|server| {
            json!({
                "name": server.name, "scope": server.scope, "standing": server.status,
                "origin": server.origin,
            })
        })
        .collect();
    match only {
        Some(name) if servers.is_empty() => Err(format!("no server named `{name}` is configured")),
        _ => to_pretty_json(&servers),
    }
}

fn echo(_host: &Host, arguments: &Value) -> Result<String, String> {
    Ok(arguments["message"].as_str().unwrap_or_default().to_owned())
}

fn read_logs(host: &Host, arguments: &Value) -> Result<String, String> {
    let name = arguments["server"].as_str().unwrap_or_default();
    let most = arguments["lines"].as_u64().and_then(|lines| usize::try_from(lines).ok()).unwrap_or(LINES);
    let Some((lines, stderr)) = host.server_log(&ServerName::new(name)) else {
        return Err(format!("there is no server `{name}`"));
    };
    let newest = lines.len().saturating_sub(most);
    let lines = lines.get(newest..).unwrap_or_default();
    let stderr = stderr.clean_text().into_owned();
    let stderr: Vec<&str> = stderr.lines().collect();
    let newest = stderr.len().saturating_sub(most);
    to_pretty_json(&json!({ "lines": lines, "stderr": stderr.get(newest..).unwrap_or_default() }))
}

fn to_pretty_json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map_err(|error| error.to_string())
}
