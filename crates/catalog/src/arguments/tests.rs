//! Validation of arguments: mismatches with their paths, and hostile schemas.

mod properties;

use std::time::{Duration, Instant};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::{ArgumentChecker, ArgumentFit, ArgumentMismatch};

fn checker(schema: &Value) -> ArgumentChecker {
    ArgumentChecker::new(&to_raw_value(schema).unwrap())
}

/// The mismatches, as a message shows them.
fn mismatches(schema: &Value, arguments: &Value) -> Vec<String> {
    let checker = checker(schema);
    assert_eq!(checker.unchecked_reason(), None, "{schema}");
    checker
        .check_arguments(arguments)
        .err()
        .unwrap_or_default()
        .iter()
        .map(ArgumentMismatch::to_string)
        .collect()
}

/// The mismatches of a value against the schema of one property `v`.
fn mismatches_of_property(schema: &Value, value: &Value) -> Vec<String> {
    mismatches(&json!({ "type": "object", "properties": { "v": schema } }), &json!({ "v": value }))
}

#[test]
fn fitting_arguments_pass() {
    // N8
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "depth": { "type": "integer", "minimum": 0, "default": 1 },
            "when": { "type": "string", "format": "date-time" },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    for arguments in [
        json!({ "path": "a" }),
        json!({ "path": "a", "depth": 3.0 }),
        json!({ "path": "a", "when": "formats are the server's business" }),
    ] {
        assert_eq!(mismatches(&schema, &arguments), [""; 0]);
    }
    assert_eq!(mismatches(&json!({}), &json!({ "anything": 1 })), [""; 0]);
}

// N8
#[test]
fn null_is_dropped_if_optional_and_refused_if_required() {
    let checker = checker(&json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "depth": { "type": "integer" },
            "note": { "type": ["string", "null"] },
        },
        "required": ["path"],
        "additionalProperties": false,
    }));
    let fit = |arguments: Value| checker.fit_arguments(&arguments);
    assert_eq!(
        fit(json!({ "path": "a", "depth": null })),
        Ok(ArgumentFit::WithoutNulls(json!({ "path": "a" })))
    );
    assert_eq!(
        fit(json!({ "path": "a", "unknown": null })),
        Ok(ArgumentFit::WithoutNulls(json!({ "path": "a" })))
    );
    assert_eq!(fit(json!({ "path": "a", "note": null })), Ok(ArgumentFit::AsGiven), "the schema takes it");
    let misfits = fit(json!({ "path": null, "depth": null })).unwrap_err();
    assert_eq!(misfits.iter().map(|misfit| misfit.path.as_str()).collect::<Vec<_>>(), ["/path"]);
    assert!(fit(json!({ "path": "a", "depth": "x", "note": null })).is_err());
    let kept = json!({ "path": "a", "note": null });
    assert_eq!(fit(json!({ "path": "a", "depth": null, "note": null })), Ok(ArgumentFit::WithoutNulls(kept)));
}

// N8
#[test]
fn nested_optional_null_is_dropped_and_the_rest_still_validated() {
    let item = json!({
        "type": "object",
        "properties": { "id": { "type": "integer" }, "label": { "type": "string" } },
        "required": ["id"],
        "additionalProperties": false,
    });
    let checker = checker(&json!({
        "type": "object",
        "properties": { "filter": item, "items": { "type": "array", "items": { "$ref": "#/properties/filter" } } },
    }));
    let given =
        json!({ "filter": { "id": 1, "label": null }, "items": [{ "id": 2, "label": null }, { "id": 3 }] });
    let expected = json!({ "filter": { "id": 1 }, "items": [{ "id": 2 }, { "id": 3 }] });
    assert_eq!(checker.fit_arguments(&given), Ok(ArgumentFit::WithoutNulls(expected)));
    let misfits = checker.fit_arguments(&json!({ "items": [{ "id": null, "label": null }] })).unwrap_err();
    assert_eq!(misfits.iter().map(|misfit| misfit.path.as_str()).collect::<Vec<_>>(), ["/items/0/id"]);
}

#[test]
fn mismatch_names_its_path() {
    // N8
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "options": { "properties": { "depth": { "type": "integer" }, "a/b": { "type": "null" } } },
            "tags": { "items": { "type": ["string", "null"] } },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    for (arguments, expected) in [
        (json!([]), vec!["expected object, found array"]),
        (json!({}), vec!["`path` is missing"]),
        (json!({ "path": 1 }), vec!["`/path`: expected string, found integer"]),
        (json!({ "path": "a", "x": 1, "y": 2 }), vec!["unknown property `x` or `y`"]),
        (
            json!({ "path": "a", "options": { "depth": "3", "a/b": 1.5 }, "tags": ["a", null, true] }),
            vec![
                "`/options/depth`: expected integer, found string",
                "`/options/a~1b`: expected null, found number",
                "`/tags/2`: expected null or string, found boolean",
            ],
        ),
    ] {
        assert_eq!(mismatches(&schema, &arguments), expected);
    }
}

#[test]
fn each_keyword_describes_its_expectation() {
    // N8
    let many: Vec<u32> = (0..14).collect();
    let alternatives = json!({ "anyOf": [
        { "type": "string" },
        { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] },
    ] });
    for (schema, value, expected) in [
        (json!({ "enum": ["a", "b", 3] }), json!("c"), "expected one of \"a\", \"b\" or 3"),
        (json!({ "enum": many }), json!(20), "expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or 4 more"),
        (json!({ "const": "x" }), json!("y"), "expected \"x\""),
        (json!({ "minimum": 2 }), json!(1), "expected at least 2"),
        (json!({ "exclusiveMaximum": 2 }), json!(2), "expected less than 2"),
        (json!({ "multipleOf": 5 }), json!(2), "expected a multiple of 5"),
        (json!({ "maxLength": 2 }), json!("abc"), "expected at most 2 characters"),
        (json!({ "minItems": 1 }), json!([]), "expected at least 1 elements"),
        (json!({ "uniqueItems": true }), json!([1, 1]), "two of its elements are the same"),
        (json!({ "pattern": "^a+$" }), json!("b"), "expected a text that matches `^a+$`"),
        (json!({ "not": { "type": "string" } }), json!("b"), "it has a form that is excluded"),
        (json!(false), json!("b"), "nothing is allowed here"),
        (
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "ab": 1 }),
            "one of its names: expected at most 1 characters",
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            json!(1),
            "expected string or null, found integer",
        ),
        (
            alternatives.clone(),
            json!({ "id": "7" }),
            "fits no alternative; for the nearest `/id`: expected integer, found string",
        ),
        (alternatives, json!({}), "fits no alternative; for the nearest `id` is missing"),
        (json!({ "oneOf": [{}, {}] }), json!(1), "fits more than one alternative, and only one may fit"),
    ] {
        assert_eq!(mismatches_of_property(&schema, &value), [format!("`/v`: {expected}")], "{schema}");
    }
}

#[test]
fn mismatches_are_bounded_sanitized_and_never_quote_values() {
    // N8 N7 B43
    let numbers = json!({ "additionalProperties": { "type": "integer" } });
    let secret = "hunter2".repeat(1000);
    let arguments: Value =
        (0..50).map(|n| (format!("k{n}"), json!(secret))).collect::<serde_json::Map<_, _>>().into();
    let misfits = checker(&numbers).check_arguments(&arguments).unwrap_err();
    assert_eq!(misfits.len(), 5);
    assert!(misfits.iter().all(|misfit| misfit.reason == "expected integer, found string"));

    let long = json!({ "enum": ["\u{202e}a\u{e0041}".to_owned() + &"b".repeat(500)] });
    let wordy = json!({ "pattern": "a".repeat(5000) });
    let unexpected = json!({ "additionalProperties": false });
    for (schema, value) in
        [(&long, json!(1)), (&wordy, json!("b")), (&unexpected, json!({ "c\u{200b}".repeat(900): 1 }))]
    {
        let reason = &mismatches_of_property(schema, &value)[0];
        assert!(reason.chars().count() < 260, "{reason}");
        assert!(!reason.contains(['\u{202e}', '\u{e0041}', '\u{200b}']), "{reason}");
    }
}

#[test]
fn schema_is_compiled_with_the_draft_it_names() {
    // N8
    let tuple = |dialect: &str| json!({ "$schema": dialect, "properties": { "v": { "items": [{ "type": "string" }] } } });
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        assert_eq!(
            mismatches(&tuple(dialect), &json!({ "v": [1] })),
            ["`/v/0`: expected string, found integer"]
        );
    }
    // Not a tuple in the newest draft, nor in an unknown one.
    for dialect in ["https://json-schema.org/draft/2020-12/schema", "https://example.com/own"] {
        assert!(checker(&tuple(dialect)).unchecked_reason().is_some(), "{dialect}");
    }
    let newest =
        json!({ "$schema": "x:own", "properties": { "v": { "prefixItems": [{ "type": "string" }] } } });
    assert_eq!(mismatches(&newest, &json!({ "v": [1] })), ["`/v/0`: expected string, found integer"]);
}

#[test]
fn local_references_are_resolved() {
    // N8 B103
    let tree = json!({
        "$ref": "#/$defs/no%64e",
        "$defs": { "node": { "type": "object", "properties": {
            "name": { "type": "string" },
            "left": { "$ref": "#/$defs/node" },
            "right": { "$ref": "#side" },
            "more": { "type": "array", "items": { "$ref": "#/$defs/node" } },
        } }, "side": { "$anchor": "side", "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/node" }] } },
    });
    assert_eq!(mismatches(&tree, &json!({ "left": { "right": { "more": [{ "right": null }] } } })), [""; 0]);
    assert_eq!(
        mismatches(&tree, &json!({ "left": { "left": { "more": [{ "name": 1 }] } } })),
        ["`/left/left/more/0/name`: expected string, found integer"],
    );
    let own = json!({ "$id": "https://example.com/s", "properties": { "v": { "$ref": "https://example.com/s#/$defs/n" } },
        "$defs": { "n": { "type": "integer" } } });
    assert_eq!(mismatches(&own, &json!({ "v": "" })), ["`/v`: expected integer, found string"]);
}

#[test]
fn external_references_are_never_fetched() {
    // B103 H25
    for reference in [
        "http://127.0.0.1:1/schema.json",
        "https://example.com/schema.json#/a",
        "file:///etc/passwd",
        "other.json",
        "#/nowhere",
        "#nobody",
    ] {
        let checker = checker(&json!({ "properties": { "v": { "$ref": reference } } }));
        assert_eq!(
            checker.unchecked_reason(),
            Some(&*format!("it refers to `{reference}`, which is not part of it"))
        );
        assert_eq!(checker.check_arguments(&json!({ "v": 1 })), Ok(()));
    }
}

#[test]
fn schema_beyond_the_limits_validates_nothing_and_says_why() {
    // B103 H25
    let deep = (0..60).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } }));
    let wide: Vec<_> = (0..10_001).map(|_| json!({})).collect();
    let circle = json!({ "allOf": [{ "$ref": "#" }] });
    let mutual = json!({ "$ref": "#/$defs/a", "$defs": {
        "a": { "anyOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } } });
    let patterns: Vec<_> = (0..300).map(|n| json!({ "pattern": format!("a{n}") })).collect();
    let named = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$id": "a" } } });
    for (schema, why) in [
        (json!({ "description": "a".repeat(300_000) }), "it has more than 262144 bytes"),
        (deep, "it has more than 64 levels"),
        (json!({ "anyOf": wide }), "it has more than 10000 parts"),
        (circle, "it has more than 16 layers"),
        (mutual, "it has more than 16 layers"),
        (multiplied(30, 3), "it has more than 10000 parts for one value"),
        (multiplied(2, 60), "it has more than 16 layers"),
        (json!({ "anyOf": patterns }), "it has more than 256 patterns"),
        (named, "parts of it have identifiers of their own"),
        (json!({ "properties": { "a": { "type": "text" } } }), "it is not a valid JSON Schema"),
        (json!({ "required": true }), "it is not a valid JSON Schema"),
    ] {
        let checker = checker(&schema);
        let blind = checker.unchecked_reason().unwrap_or("nothing");
        assert!(blind.starts_with(why), "{why}: {blind}");
        assert_eq!(checker.check_arguments(&json!({ "a": { "a": 1 } })), Ok(()));
    }
    let nested = "[".repeat(400) + &"]".repeat(400);
    let nested = RawValue::from_string(format!("{{\"default\":{nested}}}"));
    // Either the parser or our depth limit refuses it.
    assert!(nested.is_err() || ArgumentChecker::new(&nested.unwrap()).unchecked_reason().is_some());
}

/// A chain of schemas in which each refers to the next one several times, for the same value.
fn multiplied(times: usize, parts: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for n in 0..parts {
        let next = json!({ "$ref": format!("#/$defs/{}", n + 1) });
        defs.insert(n.to_string(), json!({ "anyOf": vec![next; times] }));
    }
    defs.insert(parts.to_string(), json!({ "type": "string" }));
    json!({ "properties": { "v": { "$ref": "#/$defs/0" } }, "$defs": defs })
}

#[test]
fn deepest_schema_and_arguments_do_not_overflow_the_stack() {
    // B103 H25
    let layered = (0..13)
        .fold(json!({ "properties": { "a": { "$ref": "#" } } }), |inner, _| json!({ "allOf": [inner] }));
    let checker = checker(&layered);
    assert_eq!(checker.unchecked_reason(), None);
    let nested = |depth, end| (0..depth).fold(end, |inner, _| json!({ "a": inner }));
    assert_eq!(checker.check_arguments(&nested(126, json!({}))), Ok(()));
    let typed = json!({ "type": "object", "allOf": [layered] });
    assert_eq!(mismatches(&typed, &nested(126, json!(1))), ["they do not fit the tool's schema"]);
    let place = "/a".repeat(20);
    assert_eq!(
        mismatches(&typed, &nested(20, json!(1))),
        [format!("`{place}`: expected object, found integer")]
    );
}

#[test]
fn patterns_run_in_linear_time() {
    // B103 H25
    let schema = json!({ "pattern": "^(a+)+$" });
    let value = "a".repeat(50_000) + "!";
    let start = Instant::now();
    assert_eq!(
        mismatches_of_property(&schema, &json!(value)),
        ["`/v`: expected a text that matches `^(a+)+$`"]
    );
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn nonlinear_pattern_is_left_to_the_server() {
    // B103 N8
    let schema = json!({
        "properties": { "v": { "$ref": "#/$defs/v" }, "w": { "type": "string", "pattern": "(a)\\1" } },
        "$defs": { "v": { "type": "string", "pattern": "^(?!x)a", "maxLength": 3 } },
    });
    assert_eq!(mismatches(&schema, &json!({ "v": "xyz", "w": "b" })), [""; 0]);
    assert_eq!(mismatches(&schema, &json!({ "v": "wxyz", "w": 1 })).len(), 2);
}

#[test]
fn exponential_schema_neither_hangs_nor_exhausts_memory() {
    // B103 H25
    let schema = json!({
        "$ref": "#/$defs/node",
        "$defs": { "node": { "anyOf": [
            { "properties": { "a": { "$ref": "#/$defs/node" } }, "required": ["x"] },
            { "properties": { "a": { "$ref": "#/$defs/node" } }, "required": ["y"] },
        ] } },
    });
    let nested = |depth| (0..depth).fold(json!({}), |inner, _| json!({ "a": inner }));
    let start = Instant::now();
    assert_eq!(mismatches(&schema, &nested(100)), ["they do not fit the tool's schema"]);
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(mismatches(&schema, &nested(3))[0].starts_with("fits no alternative"));
}

#[test]
fn long_reference_chain_does_not_overflow_the_stack() {
    // B103 H25
    let chain = 4_000;
    let mut defs = serde_json::Map::new();
    for n in 0..chain {
        defs.insert(n.to_string(), json!({ "items": { "$ref": format!("#/$defs/{}", n + 1) } }));
    }
    defs.insert(chain.to_string(), json!({ "type": "string" }));
    let checker = checker(&json!({ "properties": { "v": { "$ref": "#/$defs/0" } }, "$defs": defs }));
    assert_eq!(checker.check_arguments(&json!({ "v": [[[]]] })), Ok(()));
}

// N8
#[test]
fn fast_path_agrees_with_the_compiled_schema() {
    let kinds = ["string", "integer", "number", "boolean", "array", "object"];
    let values = [
        json!("x"),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!(u64::MAX),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
    ];
    for kind in kinds {
        for closed in [json!({}), json!({ "additionalProperties": false })] {
            let mut schema = json!({
                "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": { "a": { "type": kind, "description": "d", "default": 7 }, "b": {} },
                "required": ["a"],
            });
            schema.as_object_mut().unwrap().extend(closed.as_object().unwrap().clone());
            let raw = serde_json::value::to_raw_value(&schema).unwrap();
            let (quick, full) = (ArgumentChecker::new(&raw), super::CompiledSchema::new(raw.get()).unwrap());
            assert!(quick.simple.is_some(), "{schema}");
            let objects = values.iter().flat_map(|value| {
                [
                    json!({ "a": value }),
                    json!({ "a": value, "b": null }),
                    json!({ "a": value, "c": 1 }),
                    json!({ "b": value }),
                    value.clone(),
                ]
            });
            for arguments in objects {
                assert_eq!(
                    quick.check_arguments(&arguments).is_ok(),
                    full.is_valid(&arguments),
                    "{schema} {arguments}"
                );
            }
        }
    }
}
