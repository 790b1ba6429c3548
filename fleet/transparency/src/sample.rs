//! The words of the comparing client: its capabilities, its answers, and sample arguments for any schema.

use serde_json::{Map, Value, json};

use crate::client::{NEW_REVISION, OLD_REVISION};

/// The text for a string of which nothing is known.
const TEXT: &str = "sample";

fn client_info() -> Value {
    json!({ "name": "transparency", "version": "1.0.0" })
}

/// The capabilities of a client that can answer everything.
fn capabilities() -> Value {
    json!({
        "elicitation": { "form": {}, "url": {} },
        "sampling": { "tools": {}, "context": {} },
        "roots": { "listChanged": true },
        "extensions": {
            "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] },
        },
    })
}

pub(crate) fn initialize_params() -> Value {
    json!({ "protocolVersion": OLD_REVISION, "capabilities": capabilities(), "clientInfo": client_info() })
}

/// The `_meta` of each request of the new era.
pub(crate) fn request_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": NEW_REVISION,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": capabilities(),
        "io.modelcontextprotocol/logLevel": "debug",
    })
}

/// The result of a server's request.
pub(crate) fn answer_question(request: &Value) -> Value {
    let params = &request["params"];
    match request["method"].as_str().unwrap_or_default() {
        "elicitation/create" if params["mode"] == "url" => json!({ "action": "accept" }),
        "elicitation/create" => {
            json!({ "action": "accept", "content": sample_arguments(&params["requestedSchema"]) })
        }
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": TEXT },
            "model": "sample-model",
            "stopReason": "endTurn",
        }),
        "roots/list" => json!({ "roots": [{ "uri": "file:///sample", "name": TEXT }] }),
        _ => json!({}),
    }
}

/// An object with a value for each property of a schema.
pub(crate) fn sample_arguments(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let sample = |(name, schema): (String, Value)| Some((name, sample_value(&schema)?));
    properties.into_iter().filter_map(sample).collect::<Map<_, _>>().into()
}

/// A value of a schema; none for schemas of a kind that is not known here.
fn sample_value(schema: &Value) -> Option<Value> {
    let choices = [&schema["enum"], &schema["oneOf"][0]["const"], &schema["anyOf"][0]["const"]];
    let choice = choices.into_iter().find(|choice| !choice.is_null());
    if let Some(choice) = choice {
        return Some(choice.get(0).unwrap_or(choice).clone());
    }
    match schema["type"].as_str()? {
        "string" => Some(schema.get("default").cloned().unwrap_or_else(|| sample_text(schema))),
        "integer" | "number" => Some(schema.get("minimum").cloned().unwrap_or_else(|| json!(1))),
        "boolean" => Some(json!(true)),
        "array" => {
            let item = sample_value(&schema["items"]);
            Some(item.into_iter().collect::<Vec<_>>().into())
        }
        "object" => Some(sample_arguments(schema)),
        _ => None,
    }
}

fn sample_text(schema: &Value) -> Value {
    match schema["format"].as_str() {
        Some("email") => json!("sample@example.com"),
        Some("uri") => json!("https://example.com/sample"),
        Some("date") => json!("2026-01-02"),
        Some("date-time") => json!("2026-01-02T03:04:05Z"),
        _ => json!(TEXT),
    }
}
