//! What a target answers, the same over every transport.

use std::time::Duration;

use serde_json::{Value, json};

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

/// Which protocol it speaks; it knows no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Old,
    New,
}

/// A server.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) era: Era,
}

impl Target {
    /// Whether others need not wait for the answer.
    pub(crate) fn takes_time(&self, request: &Value) -> bool {
        request.pointer("/params/name").and_then(Value::as_str) == Some("work")
    }

    /// The answer; none to what wants none.
    pub(crate) fn answer(&self, request: &Value) -> Option<Value> {
        let id = request.get("id")?;
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let result = match (self.era, method) {
            (Era::New, "server/discover") => Some(self.discovered()),
            (Era::Old, "initialize") => Some(self.initialized()),
            (_, "ping") => Some(json!({})),
            (_, "tools/list") => Some(json!({ "tools": tools(), "ttlMs": 0, "cacheScope": "private" })),
            (_, "tools/call") => self.call(request),
            _ => None,
        };
        Some(match result {
            Some(mut result) => {
                if let (Era::New, Some(members)) = (self.era, result.as_object_mut()) {
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

    fn discovered(&self) -> Value {
        json!({
            "supportedVersions": [NEW],
            "capabilities": { "tools": {} },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": self.name, "version": "1" } }
        })
    }

    fn initialized(&self) -> Value {
        json!({
            "protocolVersion": OLD,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": self.name, "version": "1" }
        })
    }

    fn call(&self, request: &Value) -> Option<Value> {
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

fn tools() -> Value {
    let number = json!({ "type": "integer", "minimum": 0 });
    json!([
        tool("echo", "Repeats the token, and changes nothing", None, true),
        tool("note", "Repeats the token, and may have changed something", None, false),
        tool("fail", "Fails, as tools do", None, true),
        tool("work", "Repeats the token after some milliseconds", Some(("ms", &number)), false),
        tool("big", "Repeats the token with so many bytes behind it", Some(("bytes", &number)), true),
    ])
}

fn tool(name: &str, description: &str, also: Option<(&str, &Value)>, reads_only: bool) -> Value {
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
