//! The JSON Schema of a server file, made from the table of fields.

use serde_json::{Map, Value, json};

use super::Kind;
use super::field::{FIELDS, Field, OAUTH, Shape};

/// The schema of a file with `mcpServers`.
#[must_use]
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "MCP servers",
        "description": "The `mcpServers` of `.mcp.json`, `settings.json` and `--mcp-config`. Every string may hold `${VAR}` or `${VAR:-default}`.",
        "type": "object",
        "properties": {
            "mcpServers": {
                "description": "Servers by name.",
                "type": "object",
                "additionalProperties": { "$ref": "#/$defs/server" }
            }
        },
        "$defs": { "server": server() }
    })
}

fn server() -> Value {
    json!({
        "type": "object",
        "properties": properties(FIELDS),
        "oneOf": [
            { "required": ["command"], "not": { "required": ["url"] } },
            { "required": ["url"], "not": { "required": ["command"] } },
            { "required": ["type", "name"], "properties": { "type": { "const": Kind::Sdk.as_str() } } }
        ],
        "additionalProperties": true
    })
}

fn properties(fields: &[Field]) -> Map<String, Value> {
    fields.iter().map(|field| (field.name.to_owned(), property(field))).collect()
}

fn property(field: &Field) -> Value {
    let mut property = match field.shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::TextList | Shape::Globs => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::Milliseconds => json!({ "type": "integer", "minimum": 0 }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Choice(words) => json!({ "enum": words }),
        Shape::Oauth => json!({ "type": "object", "properties": properties(OAUTH) }),
        Shape::Port => json!({ "type": "integer", "minimum": 1, "maximum": 65535 }),
        Shape::Roots => {
            json!({ "anyOf": [{ "const": false }, { "type": "array", "items": { "type": "string" } }] })
        }
        Shape::Words => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
    };
    if let Some(object) = property.as_object_mut() {
        object.insert("description".to_owned(), description(field).into());
    }
    property
}

fn description(field: &Field) -> String {
    if field.kinds.len() == Kind::ALL.len() {
        return field.meaning.to_owned();
    }
    let kinds: Vec<&str> = field.kinds.iter().map(|kind| kind.as_str()).collect();
    format!("{} ({})", field.meaning, kinds.join(", "))
}
