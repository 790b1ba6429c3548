//! Generates the JSON Schema of a server file from the table of fields.

use serde_json::{Map, Value, json};

use super::TransportKind;
use super::field::{EntryField, EntryFieldShape, FIELDS, OAUTH};

/// The JSON Schema of a file with `mcpServers`.
#[must_use]
pub fn server_file_schema() -> Value {
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
        "$defs": { "server": server_schema() }
    })
}

fn server_schema() -> Value {
    json!({
        "type": "object",
        "properties": field_properties(FIELDS),
        "oneOf": [
            { "required": ["command"], "not": { "required": ["url"] } },
            { "required": ["url"], "not": { "required": ["command"] } },
            { "required": ["type", "name"], "properties": { "type": { "const": TransportKind::Sdk.as_str() } } }
        ],
        "additionalProperties": true
    })
}

fn field_properties(fields: &[EntryField]) -> Map<String, Value> {
    fields.iter().map(|field| (field.name.to_owned(), field_schema(field))).collect()
}

fn field_schema(field: &EntryField) -> Value {
    let mut property = match field.shape {
        EntryFieldShape::Text => json!({ "type": "string" }),
        EntryFieldShape::TextList | EntryFieldShape::Globs => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        EntryFieldShape::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        EntryFieldShape::Milliseconds => json!({ "type": "integer", "minimum": 0 }),
        EntryFieldShape::Flag => json!({ "type": "boolean" }),
        EntryFieldShape::Choice(words) => json!({ "enum": words }),
        EntryFieldShape::Oauth => json!({ "type": "object", "properties": field_properties(OAUTH) }),
        EntryFieldShape::Port => json!({ "type": "integer", "minimum": 1, "maximum": 65535 }),
        EntryFieldShape::Roots => {
            json!({ "anyOf": [{ "const": false }, { "type": "array", "items": { "type": "string" } }] })
        }
        EntryFieldShape::Words => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
    };
    if let Some(object) = property.as_object_mut() {
        object.insert("description".to_owned(), field_description(field).into());
    }
    property
}

fn field_description(field: &EntryField) -> String {
    if field.kinds.len() == TransportKind::ALL.len() {
        return field.meaning.to_owned();
    }
    let kinds: Vec<&str> = field.kinds.iter().map(|kind| kind.as_str()).collect();
    format!("{} ({})", field.meaning, kinds.join(", "))
}
