//! What schemas become.

use serde_json::{Value, json};

use super::super::Dialect::{self, Anthropic, Gemini, OpenAi, OpenAiChat};
use super::{back, entry, json_of, list, shown};

fn of(property: &Value) -> Value {
    json!({ "type": "object", "properties": { "v": property } })
}

/// What a property becomes.
fn shown_of(dialect: Dialect, property: &Value) -> Value {
    shown(dialect, &of(property))["properties"]["v"].clone()
}

/// What the tool gets for it.
fn back_of(dialect: Dialect, property: &Value, written: &Value) -> Value {
    back(dialect, &of(property), &json!({ "v": written }))["v"].clone()
}

// N8 N13
#[test]
fn what_an_api_takes_is_not_touched() {
    let text = r#"{"type":"object","$schema":"http://json-schema.org/draft-07/schema#", "properties":{"n":{"type":"number","default":1.50},"l":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}},"additionalProperties":false,"x-mark":{"$ref":"?"}}"#;
    let schema: Value = serde_json::from_str(text).unwrap();
    let mut tool = entry(&schema);
    let entry = std::sync::Arc::get_mut(&mut tool).unwrap();
    std::sync::Arc::make_mut(&mut entry.tool).input_schema =
        serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
    for dialect in [Anthropic, OpenAi, OpenAiChat] {
        let tools = list(dialect, &[tool.clone()]);
        assert!(tools.tools.get().contains(text), "{}", tools.tools.get());
        assert_eq!(tools.rewritten().count(), 0);
    }
}

// N13
#[test]
fn references_are_put_in_place() {
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
fn what_refers_to_itself_is_taken_in_any_form_where_it_does() {
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
fn alternatives_for_all_arguments_become_one_object() {
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
fn names_that_an_api_does_not_take_become_others_and_back() {
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
fn gemini_chooses_among_texts_whatever_the_values_are() {
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
        // A model that knows better is believed; the tool's own schema decides.
        (json!(1), json!(1)),
        (json!("other"), json!("other")),
    ] {
        assert_eq!(back_of(Gemini, &mixed, &written), meant);
    }
    assert_eq!(shown_of(Gemini, &json!({ "const": "x" })), json!({ "type": "string", "enum": ["x"] }));
}

// N13
#[test]
fn gemini_writes_as_text_what_it_has_no_form_for() {
    let map =
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "description": "Counts." });
    let shown = shown_of(Gemini, &map);
    let words = "Counts. Written as JSON text of the schema {\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}";
    assert_eq!(shown, json!({ "type": "string", "description": words }));
    assert_eq!(back_of(Gemini, &map, &json!("{\"a\": 1}")), json!({ "a": 1 }));
    assert_eq!(back_of(Gemini, &map, &json!({ "a": 1 })), json!({ "a": 1 }));

    // A text that is no JSON is what the model meant.
    assert_eq!(back_of(Gemini, &json!({}), &json!("plain words")), json!("plain words"));
    assert_eq!(back_of(Gemini, &json!({}), &json!("[1]")), json!([1]));

    // Where a text could be a text or an object, both are written in the same way.
    let either = json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] });
    assert_eq!(back_of(Gemini, &either, &json!("\"{}\"")), json!("{}"));
    assert_eq!(back_of(Gemini, &either, &json!("{}")), json!({}));
}

// N13
#[test]
fn gemini_is_told_in_words_what_it_has_no_field_for() {
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
fn what_older_drafts_meant_is_said_as_it_is_today() {
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
fn openai_is_told_what_arrays_and_objects_hold() {
    let schema = json!({ "type": "object" });
    assert_eq!(shown(OpenAi, &schema), json!({ "type": "object", "properties": {} }));
    assert_eq!(shown_of(OpenAi, &json!({ "type": "array" })), json!({ "type": "array", "items": {} }));
    let either = json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] });
    let expected = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
    assert_eq!(shown_of(OpenAi, &either), expected);
    // Without arguments there is nothing to tell Gemini.
    let tools = json_of(&list(Gemini, &[entry(&schema)]));
    assert_eq!(
        tools[0]["functionDeclarations"][0],
        json!({ "name": "mcp__s__t", "description": "Does it." })
    );
}

// N13 N8
#[test]
fn conditions_without_a_form_are_told_in_words() {
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
