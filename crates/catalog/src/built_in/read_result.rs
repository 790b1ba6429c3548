//! Definition of `ReadResult` for models. It is short, because its tokens are paid for in every conversation.

use serde_json::{Value, json};

use super::BuiltIn;

/// The definition of the tool.
pub(super) fn read_result_definition() -> Value {
    json!({
        "name": BuiltIn::ReadResult.as_str(),
        "title": "Read a stored result",
        "description": "Reads on in a tool result that was too long to be shown and was stored under a handle.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "handle": { "type": "string", "description": "As the note in place of the result says" },
                "offset": { "type": "integer", "minimum": 0, "description": "First line (from 1), or first byte (from 0)" },
                "limit": { "type": "integer", "minimum": 1, "description": "How many lines, bytes or matches" },
                "unit": { "type": "string", "enum": ["lines", "bytes"], "default": "lines" },
                "grep": { "type": "string", "description": "Only lines that match this regular expression" },
                "context": { "type": "integer", "minimum": 0, "maximum": 10, "description": "Lines around each match" },
                "pointer": { "type": "string", "description": "JSON pointer: read only this value, such as /items/0" },
            },
            "required": ["handle"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
        "_meta": { "anthropic/alwaysLoad": true },
    })
}
