//! Time and size limits of rewriting, for hostile schemas.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::super::Dialect;
use super::{check, entry, json_of, list};

/// The maximum size of a list with one tool: the largest schema, and a little around it.
const BYTES: usize = 257 * 1024;

/// The maximum time of one dialect for one tool, in a debug build on a busy machine.
const LONG: Duration = Duration::from_secs(2);

fn assert_bounded(schema: &Value) {
    for dialect in Dialect::ALL {
        let begin = Instant::now();
        let tools = list(dialect, &[entry(schema)]);
        let took = begin.elapsed();
        assert!(took < LONG, "{}: {took:?}", dialect.as_str());
        assert!(tools.tools.get().len() < BYTES, "{}: {}", dialect.as_str(), tools.tools.get().len());
        assert_eq!(check::complaints(dialect.as_str(), &json_of(&tools)), [""; 0]);
    }
}

fn of(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "v": schema } })
}

// B103
#[test]
fn heavy_references_that_double_with_each_step_end() {
    let mut defs = Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        defs.insert(
            format!("d{n}"),
            json!({ "type": "object", "properties": { "a": next, "b": next }, "anyOf": [next, next], "allOf": [next, next] }),
        );
    }
    defs.insert("d40".into(), json!({ "type": "string" }));
    assert_bounded(
        &json!({ "type": "object", "properties": { "v": { "$ref": "#/$defs/d0" } }, "$defs": defs }),
    );
    assert_bounded(&json!({ "type": "object", "$ref": "#/$defs/d0", "$defs": defs }));
}

// B103
#[test]
fn heavy_ten_thousand_alternatives_end() {
    let many: Vec<Value> = (0..10_000).map(|n| json!({ "const": n })).collect();
    for union in ["anyOf", "oneOf", "allOf"] {
        assert_bounded(&of(&json!({ union: many })));
    }
    assert_bounded(&of(&json!({ "enum": (0..10_000).collect::<Vec<_>>() })));
    assert_bounded(&of(&json!({ "prefixItems": many })));
    let required: Vec<Value> = (0..8_000).map(|n| json!({ "required": [format!("p{n}")] })).collect();
    assert_bounded(&json!({ "type": "object", "anyOf": required }));
    let nested = json!({ "anyOf": vec![json!({ "anyOf": vec![json!({ "anyOf": vec![json!({ "minLength": 1 }); 20] }); 20] }); 20] });
    assert_bounded(&of(&nested));
    assert_bounded(&json!({ "type": "object", "allOf": [nested, { "oneOf": [{}, {}] }] }));
}

// B103
#[test]
fn heavy_depth_ends() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..50 {
        deep = json!({ "type": "object", "properties": { "n": deep }, "required": ["n"] });
    }
    assert_bounded(&of(&deep));
    let mut deep = json!({ "type": "string" });
    for _ in 0..100 {
        deep = json!({ "not": deep });
    }
    assert_bounded(&of(&deep));
}

// B103: nothing is fetched; a dangling reference accepts any value.
#[test]
fn heavy_references_that_lead_out_or_round_end() {
    for reference in ["http://example.com/s.json", "file:///etc/passwd", "#/nowhere", "#"] {
        assert_bounded(&of(&json!({ "$ref": reference })));
    }
    assert_bounded(&json!({ "type": "object", "$ref": "#" }));
    assert_bounded(&json!({ "type": "object", "allOf": [{ "$ref": "#/allOf/0" }] }));
    assert_bounded(&json!({ "type": "object", "anyOf": [{ "$ref": "#/anyOf/0" }, { "$ref": "#" }] }));
    let round = json!({ "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } });
    assert_bounded(
        &json!({ "type": "object", "properties": { "v": { "$ref": "#/$defs/a" } }, "$defs": round }),
    );
}

// B103
#[test]
fn heavy_many_properties_with_many_demands_end() {
    let names: Vec<String> = (0..5_000).map(|n| format!("p {n}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "type": "string" }))).collect();
    assert_bounded(&json!({ "type": "object", "properties": properties, "required": names }));
    let cases: Vec<Value> = (0..60)
        .map(|n| {
            let properties: Map<String, Value> =
                (0..60).map(|m| (format!("p{n}-{m}"), json!({ "enum": [n, m] }))).collect();
            json!({ "properties": properties })
        })
        .collect();
    assert_bounded(&json!({ "type": "object", "oneOf": cases }));
}
