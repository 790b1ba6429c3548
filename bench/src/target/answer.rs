//! The answers of a target, the same over every transport.

use std::time::Duration;

use serde_json::{Value, json};

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

/// The protocol era of the target; it supports no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetEra {
    Old,
    New,
}

/// A server that the soak test kills.
#[derive(Debug)]
pub(crate) struct SoakServer {
    pub(crate) name: String,
    pub(crate) era: TargetEra,
}

impl SoakServer {
    /// Whether the request is slow, so that other requests must not wait for it.
    pub(crate) fn is_slow(&self, request: &Value) -> bool {
        request.pointer("/params/name").and_then(Value::as_str) == Some("work")
    }

    /// The answer to a request; none to a notification.
    pub(crate) fn answer_request(&self, request: &Value) -> Option<Value> {
        let id = request.get("id")?;
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let result = match (self.era, method) {
            (TargetEra::New, "server/discover") => Some(self.discover_result()),
            (TargetEra::Old, "initialize") => Some(self.initialize_result()),
            (_, "ping") => Some(json!({})),
            (_, "tools/list") => {
                Some(json!({ "tools": tool_definitions(), "ttlMs": 0, "cacheScope": "private" }))
            }
            (_, "tools/call") => self.call_result(request),
            _ => None,
        };
        Some(match result {
            Some(mut result) => {
                if let (TargetEra::New, Some(members)) = (self.era, result.as_object_mut()) {
                    members.insert("resultType".to_owned(), "complete".into());
                }
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            None => {
                let error = json!({ "code": -32601, "message": "method not found" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        })
    }

    fn discover_result(&self) -> Value {
        json!({
            "supportedVersions": [NEW],
            "capabilities": { "tools": {} },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": self.name, "version": "1" } }
        })
    }

    fn initialize_result(&self) -> Value {
        json!({
            "protocolVersion": OLD,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": self.name, "version": "1" }
        })
    }

    fn call_result(&self, request: &Value) -> Option<Value> {
        let tool = request.pointer("/params/name").and_then(Value::as_str)?;
        let arguments = request.pointer("/params/arguments")?;
        let token = arguments.get("token").and_then(Value::as_str)?;
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let mut text = format!("{} {tool} {token}", self.name);
        match tool {
            "echo" | "note" | "fail" => {}
            "work" => std::thread::sleep(Duration::from_millis(number("ms")?)),
            "big" => {
                let size = usize::try_from(number("bytes")?).ok()?;
                text.push(' ');
                text.extend(std::iter::repeat_n('x', size));
            }
            _ => return None,
        }
        Some(json!({ "content": [{ "type": "text", "text": text }], "isError": tool == "fail" }))
    }
}

fn tool_definitions() -> Value {
    let number = json!({ "type": "integer", "minimum": 0 });
    json!([
        tool_definition("echo", "Repeats the token, and changes nothing", None, true),
        tool_definition("note", "Repeats the token, and may have changed something", None, false),
        tool_definition("fail", "Fails, as tools do", None, true),
        tool_definition("work", "Repeats the token after some milliseconds", Some(("ms", &number)), false),
        tool_definition(
            "big",
            "Repeats the token with so many bytes behind it",
            Some(("bytes", &number)),
            true
        ),
    ])
}

fn tool_definition(name: &str, description: &str, also: Option<(&str, &Value)>, reads_only: bool) -> Value {
    let mut properties = json!({ "token": { "type": "string" } });
    let mut required = vec!["token"];
    if let (Some((name, schema)), Some(members)) = (also, properties.as_object_mut()) {
        members.insert(name.to_owned(), schema.clone());
        required.push(name);
    }
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": properties, "required": required },
        "annotations": { "readOnlyHint": reads_only }
    })
}
