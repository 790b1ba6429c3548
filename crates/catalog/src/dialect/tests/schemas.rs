//! Rewritten schemas for each API.

use serde_json::{Value, json};

use super::super::Dialect::{self, Anthropic, Gemini, OpenAi, OpenAiChat};
use super::{back, entry, json_of, list, shown};

fn of(property: &Value) -> Value {
    json!({ "type": "object", "properties": { "v": property } })
}

/// The rewritten schema of a property.
fn shown_of(dialect: Dialect, property: &Value) -> Value {
    shown(dialect, &of(property))["properties"]["v"].clone()
}

/// The restored value of a property.
fn back_of(dialect: Dialect, property: &Value, written: &Value) -> Value {
    back(dialect, &of(property), &json!({ "v": written }))["v"].clone()
}

// N8 N13
#[test]
fn accepted_schema_stays_unchanged() {
    let text = r#"{"type":"object","$schema":"http://json-schema.org/draft-07/schema#", "properties":{"n":{"type":"number","default":1.50},"l":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}},"additionalProperties":false,"x-mark":{"$ref":"?"}}"#;
    let schema: Value = serde_json::from_str(text).unwrap();
    let mut tool = entry(&schema);
    let entry = std::sync::Arc::get_mut(&mut tool).unwrap();
    std::sync::Arc::make_mut(&mut entry.tool).input_schema =
        serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    for dialect in [Anthropic, OpenAi, OpenAiChat] {
        let tools = list(dialect, &[tool.clone()]);
        assert!(tools.tools.get().contains(text), "{}", tools.tools.get());
        assert_eq!(tools.rewritten_names().count(), 0);
    }
}

// N13
#[test]
fn references_are_inlined() {
    let schema = json!({
        "type": "object",
        "properties": {
            "from": { "$ref": "#/$defs/Point", "description": "where it begins" },
            "to": { "allOf": [{ "$ref": "#/$defs/Point" }] },
        },
        "required": ["from"],
        "$defs": {
            "Point": {
                "title": "Point", "description": "a place", "type": "object",
                "properties": { "x": { "type": "number" } }, "required": ["x"],
            },
        },
    });
    for dialect in [Anthropic, OpenAi] {
        let place = |description: &str| {
            json!({
                "title": "Point", "description": description, "type": "object",
                "properties": { "x": { "type": "number" } }, "required": ["x"],
            })
        };
        let expected = json!({
            "type": "object",
            "properties": { "from": place("where it begins"), "to": place("a place") },
            "required": ["from"],
        });
        assert_eq!(shown(dialect, &schema), expected);
    }
    let expected = json!({
        "type": "object",
        "properties": {
            "from": {
                "type": "object", "description": "where it begins",
                "properties": { "x": { "type": "number" } }, "required": ["x"],
            },
            "to": {
                "type": "object", "description": "a place",
                "properties": { "x": { "type": "number" } }, "required": ["x"],
            },
        },
        "required": ["from"],
    });
    assert_eq!(shown(Gemini, &schema), expected);
}

// N13 B103
#[test]
fn recursive_reference_accepts_any_value() {
    let schema = json!({
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/Node" } },
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": { "type": "string" },
                    "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } },
                },
            },
        },
    });
    let tree = json!({ "name": "a", "children": [{ "name": "b", "children": [{ "name": "c" }] }] });
    let children = &shown(Anthropic, &schema)["properties"]["tree"]["properties"]["children"];
    let expected = json!({ "type": "array", "items": { "description": "Has the form of `Node` again.", "type": "object" } });
    assert_eq!(*children, expected);
    assert_eq!(back(Anthropic, &schema, &json!({ "tree": tree })), json!({ "tree": tree }));

    let children = &shown(Gemini, &schema)["properties"]["tree"]["properties"]["children"];
    assert_eq!(children["items"]["type"], "string");
    let written =
        json!({ "tree": { "name": "a", "children": [r#"{"name":"b","children":[{"name":"c"}]}"#] } });
    assert_eq!(back(Gemini, &schema, &written), json!({ "tree": tree }));
}

// N13
#[test]
fn top_level_alternatives_are_merged_into_one_object() {
    let schema = json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "title": { "type": "string" }, "body": { "type": "string" } },
        "required": ["id"],
        "anyOf": [{ "required": ["title"] }, { "required": ["body"] }],
    });
    for dialect in Dialect::ALL {
        let shown = shown(dialect, &schema);
        assert_eq!(shown["required"], json!(["id"]));
        assert_eq!(shown["description"], "Give at least one of: `title`; `body`.");
        assert_eq!(shown["properties"].as_object().unwrap().len(), 3);
    }
    let forms = json!({
        "oneOf": [
            { "properties": { "kind": { "const": "file" }, "path": { "type": "string" } }, "required": ["kind", "path"] },
            { "properties": { "kind": { "const": "page" }, "url": { "type": "string" } }, "required": ["kind", "url"] },
        ],
    });
    let expected = json!({
        "type": "object",
        "description": "Give exactly one of: `kind` \"file\" with `path`; `kind` \"page\" with `url`.",
        "properties": {
            "kind": { "type": "string", "enum": ["file", "page"] },
            "path": { "type": "string" },
            "url": { "type": "string" },
        },
        "required": ["kind"],
    });
    assert_eq!(shown(Anthropic, &forms), expected);
    assert_eq!(shown(OpenAi, &forms), expected);
    assert_eq!(shown(Gemini, &forms), expected);
}

// N13
#[test]
fn rejected_property_names_are_renamed_and_restored() {
    let schema = json!({
        "type": "object",
        "properties": {
            "max results": { "type": "integer" },
            "max_results": { "type": "integer" },
            "filter": { "type": "object", "properties": { "größe": { "type": "number" } }, "required": ["größe"] },
        },
        "required": ["max results"],
    });
    let shown = shown(Anthropic, &schema);
    let names: Vec<&String> = shown["properties"].as_object().unwrap().keys().collect();
    assert!(names[0].starts_with("max_results_"), "{names:?}");
    assert_eq!(names[1..], ["max_results", "filter"]);
    assert_eq!(shown["required"], json!([names[0]]));
    assert_eq!(shown["properties"]["filter"]["required"], json!(["gr__e"]));
    assert_eq!(shown["properties"][names[0]]["description"], "(The tool calls this `max results`.)");
    let written = json!({ names[0]: 1, "max_results": 2, "filter": { "gr__e": 3 }, "extra": 4 });
    let expected = json!({ "max results": 1, "max_results": 2, "filter": { "größe": 3 }, "extra": 4 });
    assert_eq!(back(Anthropic, &schema, &written), expected);

    let dotted =
        of(&json!({ "type": "object", "properties": { "a.b": {}, "-c": { "type": "string" }, "1d": true } }));
    let shown = &super::shown(Gemini, &dotted)["properties"]["v"]["properties"];
    assert_eq!(shown.as_object().unwrap().keys().collect::<Vec<_>>(), ["a_b", "_c", "_1d"]);
}

// N13
#[test]
fn gemini_enums_are_strings_for_values_of_any_type() {
    let mixed = json!({ "enum": [1, "1", true, "", { "a": 1 }, null] });
    let shown = shown_of(Gemini, &mixed);
    let expected =
        json!({ "type": "string", "nullable": true, "enum": ["1_", "1", "true", "\"\"", "{\"a\":1}"] });
    assert_eq!(shown, expected);
    for (written, meant) in [
        (json!("1_"), json!(1)),
        (json!("1"), json!("1")),
        (json!("true"), json!(true)),
        (json!("\"\""), json!("")),
        (json!("{\"a\":1}"), json!({ "a": 1 })),
        (Value::Null, Value::Null),
        // A model that writes the plain value is accepted; the tool's own schema decides.
        (json!(1), json!(1)),
        (json!("other"), json!("other")),
    ] {
        assert_eq!(back_of(Gemini, &mixed, &written), meant);
    }
    assert_eq!(shown_of(Gemini, &json!({ "const": "x" })), json!({ "type": "string", "enum": ["x"] }));
}

// N13
#[test]
fn gemini_writes_unsupported_values_as_json_text() {
    let map =
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "description": "Counts." });
    let shown = shown_of(Gemini, &map);
    let words = "Counts. Written as JSON text of the schema {\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}";
    assert_eq!(shown, json!({ "type": "string", "description": words }));
    assert_eq!(back_of(Gemini, &map, &json!("{\"a\": 1}")), json!({ "a": 1 }));
    assert_eq!(back_of(Gemini, &map, &json!({ "a": 1 })), json!({ "a": 1 }));

    // A text that is not JSON is kept as it is.
    assert_eq!(back_of(Gemini, &json!({}), &json!("plain words")), json!("plain words"));
    assert_eq!(back_of(Gemini, &json!({}), &json!("[1]")), json!([1]));

    // If a text could mean a string or an object, both are written as JSON text.
    let either = json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] });
    assert_eq!(back_of(Gemini, &either, &json!("\"{}\"")), json!("{}"));
    assert_eq!(back_of(Gemini, &either, &json!("{}")), json!({}));
}

// N13
#[test]
fn gemini_gets_unsupported_keywords_as_remarks() {
    let property = json!({
        "type": ["integer", "null"], "title": "Count", "format": "uint8", "exclusiveMinimum": 0, "maximum": 10,
        "multipleOf": 2, "default": 4,
    });
    let expected = json!({
        "type": "integer", "nullable": true, "maximum": 10,
        "description": "Count More than 0. A multiple of 2. Format: uint8. Default: 4.",
    });
    assert_eq!(shown_of(Gemini, &property), expected);
    let date = json!({ "type": "string", "format": "date-time", "description": "When." });
    assert_eq!(
        shown_of(Gemini, &date),
        json!({ "type": "string", "description": "When.", "format": "date-time" })
    );
    let tuple = json!({ "items": [{ "type": "number" }, { "type": "number" }], "additionalItems": false });
    let shown = shown_of(Gemini, &tuple);
    assert_eq!((&shown["items"], &shown["maxItems"]), (&json!({ "type": "number" }), &json!(2)));
}

// N13
#[test]
fn older_drafts_are_translated_to_2020_12() {
    let tuple = json!({ "items": [{ "type": "number" }, { "type": "string" }], "minItems": 2 });
    let expected = json!({
        "type": "array", "minItems": 2, "prefixItems": [{ "type": "number" }, { "type": "string" }], "items": {},
    });
    assert_eq!(shown_of(Anthropic, &tuple), expected);
    let limit = json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true, "required": true });
    assert_eq!(shown_of(Anthropic, &limit), json!({ "type": "number", "exclusiveMinimum": 0 }));
    let unknown = json!({ "type": "any", "description": "whatever" });
    assert_eq!(shown_of(Anthropic, &unknown), json!({ "description": "whatever" }));
}

// N13
#[test]
fn openai_gets_items_and_properties_for_every_array_and_object() {
    let schema = json!({ "type": "object" });
    assert_eq!(shown(OpenAi, &schema), json!({ "type": "object", "properties": {} }));
    assert_eq!(shown_of(OpenAi, &json!({ "type": "array" })), json!({ "type": "array", "items": {} }));
    let either = json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] });
    let expected = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
    assert_eq!(shown_of(OpenAi, &either), expected);
    // For a tool without arguments Gemini gets no schema.
    let tools = json_of(&list(Gemini, &[entry(&schema)]));
    assert_eq!(
        tools[0]["functionDeclarations"][0],
        json!({ "name": "mcp__s__t", "description": "Does it." })
    );
}

// N13 N8
#[test]
fn unsupported_conditions_become_remarks() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/definitions/A" }, "b": { "type": "string" } },
        "dependentRequired": { "a": ["b"] },
        "definitions": { "A": { "type": "string", "not": { "const": "x" } } },
    });
    let shown = shown(Anthropic, &schema);
    assert_eq!(
        shown["description"],
        "Must also satisfy the JSON Schema {\"dependentRequired\":{\"a\":[\"b\"]}}"
    );
    let a = "Must also satisfy the JSON Schema {\"not\":{\"const\":\"x\"}}";
    assert_eq!(shown["properties"]["a"], json!({ "description": a, "type": "string" }));
}
