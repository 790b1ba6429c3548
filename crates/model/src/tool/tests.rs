//! Tests of parsing each form of a tool.

use serde_json::json;

use super::*;

fn read(entry: &Value) -> Result<Tool, WithheldTool> {
    Tool::parse(&RawValue::from_string(entry.to_string()).unwrap())
}

const SCHEMA: &str =
    r##"{"type": "object", "properties":{"b":{"type":"string"},"a":{"$ref":"#/$defs/x"}},"x-odd":1.50}"##;

// N4 N5 N8
#[test]
fn a_tool_is_read_with_its_schema_untouched() {
    let entry = json!({
        "name": "do it", "title": "Do", "description": "Does it", "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
        "_meta": {"anthropic/searchHint": "  a \n b ", "anthropic/alwaysLoad": true}, "unknown": 1
    });
    let entry = entry.to_string().replacen('{', &format!(r#"{{"inputSchema": {SCHEMA},"#), 1);
    let tool = Tool::parse(&RawValue::from_string(entry).unwrap()).unwrap();
    assert_eq!(tool.name.as_str(), "do it");
    assert_eq!(tool.title.as_deref(), Some("Do"));
    assert_eq!(&*tool.description, "Does it");
    assert_eq!(tool.input_schema.get(), SCHEMA);
    assert!(tool.output_schema.is_some());
    assert_eq!(
        tool.hints,
        ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false }
    );
    assert_eq!(tool.search_hint.as_deref(), Some("a b"));
    assert_eq!(tool.loading, ToolLoading::Always);
}

// N4
#[test]
fn tool_without_hints_may_do_anything() {
    let tool = read(&json!({"name": "x", "inputSchema": {}})).unwrap();
    assert_eq!(
        tool.hints,
        ToolHints { read_only: false, destructive: true, idempotent: false, open_world: true }
    );
    assert_eq!(tool.loading, ToolLoading::Normal);
}

// N8 B107
#[test]
fn an_unusable_tool_is_withheld_with_the_reason() {
    for (entry, reason) in [
        (json!(1), "an entry of the tools list is not an object"),
        (json!({"inputSchema": {}}), "tool ``: `name` is not a string"),
        (json!({"name": 7, "inputSchema": {}}), "tool ``: `name` is not a string"),
        (json!({"name": "x"}), "tool `x`: `inputSchema` is not a JSON Schema"),
        (
            json!({"name": "x", "inputSchema": true}),
            "tool `x`: `inputSchema` is not a JSON Schema of an object",
        ),
        (
            json!({"name": "x", "inputSchema": {"type": "array"}}),
            "tool `x`: `inputSchema` is not a JSON Schema of an object",
        ),
        (
            json!({"name": "x", "description": 1, "inputSchema": {}}),
            "tool `x`: `description` is not a string",
        ),
        (
            json!({"name": "x", "inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}}),
            "tool `x`: an `x-mcp-header` marks an argument that is not a string, an integer or a boolean",
        ),
        (
            json!({"name": "x\u{1b}[2J", "inputSchema": 1}),
            "tool `x[2J`: `inputSchema` is not a JSON Schema of an object",
        ),
    ] {
        assert_eq!(read(&entry).unwrap_err().to_string(), reason, "{entry}");
    }
    let odd =
        json!({"name": "x", "inputSchema": {}, "outputSchema": true, "annotations": null, "title": null});
    assert!(read(&odd).is_ok(), "what is not needed does not matter");
}

// N6 N7 B39 B41 B43 H08
#[test]
fn every_text_is_cleaned_and_long_ones_are_cut() {
    let hidden = "a\u{202e}b\u{e0041}c\u{200b}";
    let tool = read(&json!({
        "name": "x", "title": hidden, "description": format!("{hidden}{}", "x".repeat(60_000)),
        "inputSchema": {"properties": {hidden: {"description": hidden, "enum": [hidden], "x": [{"y": hidden}]}}}
    }))
    .unwrap();
    assert_eq!(tool.title.as_deref(), Some("abc"));
    assert!(tool.description.starts_with("abcx") && tool.description.ends_with("… [truncated]"));
    assert!(tool.description.chars().count() <= DESCRIPTION_CHARS + "… [truncated]".chars().count());
    assert_eq!(
        tool.input_schema.get(),
        r#"{"properties":{"abc":{"description":"abc","enum":["abc"],"x":[{"y":"abc"}]}}}"#
    );
}

// N8 B03 B107
#[test]
fn unusual_json_notation_does_not_change_the_tool() {
    let read = |entry: String| Tool::parse(&RawValue::from_string(entry).unwrap());
    let twice = read(r#"{"name": 1, "inputSchema": true, "name": "last", "inputSchema": {}}"#.into());
    assert_eq!(twice.unwrap().name.as_str(), "last");
    let escaped = r#"{"\u006eame": "x", "inputSchema": {"properties": {"a": {"type": "string", "x\u002dmcp-header": "A"}}}}"#;
    assert_eq!(read(escaped.into()).unwrap().header_params.len(), 1);
    let deep =
        format!(r#"{{"name": "x", "inputSchema": {}{}}}"#, r#"{"a":"#.repeat(200) + "1", "}".repeat(200));
    assert_eq!(
        read(deep).unwrap_err().to_string(),
        "tool `x`: `inputSchema` is not a JSON Schema of an object"
    );
}

// U2
#[test]
fn tool_declares_itself_destructive_only_explicitly() {
    let cases = [
        (json!({"name": "t", "inputSchema": {"type": "object"}}), false),
        (
            json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}}),
            true,
        ),
        (
            json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": false}}),
            false,
        ),
    ];
    for (entry, expected) in cases {
        let raw = serde_json::value::to_raw_value(&entry).unwrap();
        let tool = Tool::parse(&raw).unwrap();
        assert_eq!(tool.says_destructive, expected, "{entry}");
        let text = serde_json::to_string(&tool.to_record()).unwrap();
        let again = serde_json::from_str::<ToolRecord<'_>>(&text).unwrap().into_tool().unwrap();
        assert_eq!(again.says_destructive, expected, "{entry}");
    }
}
