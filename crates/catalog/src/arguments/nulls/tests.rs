//! Removal of optional nulls from arguments, and its cost for hostile schemas.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::without_optional_nulls;

/// An object with a name, and perhaps a depth.
fn options() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "depth": { "type": "integer" } },
        "required": ["name"],
    })
}

/// The object with a null for the missing depth, as many models write it.
fn with_null() -> Value {
    json!({ "name": "a", "depth": null })
}

fn without_null() -> Value {
    json!({ "name": "a" })
}

/// The schema of an argument `v`.
fn schema_of_argument(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "v": schema } })
}

// N8
#[test]
fn optional_null_is_dropped_at_every_level() {
    let (options, sparse, plain) = (options(), with_null(), without_null());
    let rows = [
        ("object", options.clone(), sparse.clone(), plain.clone()),
        ("elements", json!({ "items": options }), json!([sparse, plain]), json!([plain, plain])),
        ("arrays of arrays", json!({ "items": { "items": options } }), json!([[sparse]]), json!([[plain]])),
        ("elements by place", json!({ "prefixItems": [{}, options] }), json!([1, sparse]), json!([1, plain])),
        (
            "elements by place in older dialects",
            json!({ "items": [{}], "additionalItems": options }),
            json!([1, sparse]),
            json!([1, plain]),
        ),
        ("map", json!({ "additionalProperties": options }), json!({ "k": sparse }), json!({ "k": plain })),
        (
            "property of a property",
            json!({ "properties": { "o": options } }),
            json!({ "o": sparse }),
            json!({ "o": plain }),
        ),
        (
            "only alternative for an object",
            json!({ "anyOf": [options, { "type": "null" }, { "type": "string" }] }),
            sparse,
            plain.clone(),
        ),
        (
            "several parts",
            json!({ "allOf": [options, { "properties": { "more": { "type": "string" } } }] }),
            json!({ "name": "a", "depth": null, "more": null }),
            plain.clone(),
        ),
        (
            "unknown property of a closed object",
            json!({ "properties": {}, "additionalProperties": false }),
            json!({ "x": null }),
            json!({}),
        ),
        (
            "unknown property of an object that its parts close",
            json!({ "allOf": [options], "unevaluatedProperties": false }),
            json!({ "name": "a", "x": null }),
            plain,
        ),
        (
            "property with fixed values",
            json!({ "properties": { "e": { "enum": ["a", "b"] }, "c": { "const": 1 } } }),
            json!({ "e": null, "c": null }),
            json!({}),
        ),
    ];
    for (case, schema, given, expected) in rows {
        let found = without_optional_nulls(&schema_of_argument(&schema), &json!({ "v": given }));
        assert_eq!(found, Some(json!({ "v": expected })), "{case}");
        // The schema behind a reference.
        let referring = json!({ "properties": { "v": { "$ref": "#/$defs/v" } }, "$defs": { "v": schema } });
        let found = without_optional_nulls(&referring, &json!({ "v": given }));
        assert_eq!(found, Some(json!({ "v": expected })), "{case}, by reference");
    }
    let found = without_optional_nulls(&schema_of_argument(&options), &json!({ "v": null }));
    assert_eq!(found, Some(json!({})), "at the top");
}

// N8
#[test]
fn null_stays_if_accepted_required_or_uncertain() {
    let rows = [
        ("list of types", json!({ "properties": { "n": { "type": ["string", "null"] } } })),
        ("type", json!({ "properties": { "n": { "type": "null" } } })),
        ("no type", json!({ "properties": { "n": { "description": "anything" } } })),
        ("everything", json!({ "properties": { "n": true } })),
        (
            "alternative",
            json!({ "properties": { "n": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } }),
        ),
        ("one of", json!({ "properties": { "n": { "oneOf": [{ "type": "string" }, {}] } } })),
        ("fixed values", json!({ "properties": { "n": { "enum": ["a", null] } } })),
        ("fixed value", json!({ "properties": { "n": { "const": null } } })),
        ("map", json!({ "additionalProperties": { "type": ["integer", "null"] } })),
        ("unknown property of an open object", json!({ "properties": { "x": { "type": "string" } } })),
        ("pattern", json!({ "patternProperties": { "^n": {} }, "additionalProperties": false })),
        ("required", json!({ "properties": { "n": { "type": "string" } }, "required": ["n"] })),
        (
            "required by another part",
            json!({ "properties": { "n": { "type": "string" } }, "allOf": [{ "required": ["n"] }] }),
        ),
        (
            "several alternatives for an object",
            json!({ "anyOf": [
                { "properties": { "n": { "type": "string" } } },
                { "properties": { "n": { "type": "integer" } } },
            ] }),
        ),
        ("reference that leads nowhere", json!({ "properties": { "n": { "$ref": "#/$defs/gone" } } })),
    ];
    for (case, schema) in rows {
        assert_eq!(
            without_optional_nulls(&schema_of_argument(&schema), &json!({ "v": { "n": null } })),
            None,
            "{case}"
        );
        assert_eq!(without_optional_nulls(&schema, &json!({ "n": null })), None, "{case}, at the top");
    }
    // Null as an element of an array is a value, not a property that was left out.
    let strings = json!({ "items": { "type": "string" } });
    assert_eq!(without_optional_nulls(&schema_of_argument(&strings), &json!({ "v": ["a", null] })), None);
}

// N8
#[test]
fn only_mismatching_nulls_are_dropped() {
    let schema =
        json!({ "properties": { "depth": { "type": "integer" }, "note": { "type": ["string", "null"] } } });
    let given = json!({ "depth": null, "note": null });
    assert_eq!(without_optional_nulls(&schema, &given), Some(json!({ "note": null })));
}

// N8 H25
#[test]
fn recursive_schema_is_pruned_cheaply() {
    let twice = |name: &str| json!({ "allOf": [{ "$ref": name }, { "$ref": name }] });
    let doubling: serde_json::Map<String, Value> =
        (0..40).map(|level| (format!("d{level}"), twice(&format!("#/$defs/d{}", level + 1)))).collect();
    let endless = json!({ "$ref": "#", "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] });
    let begun = Instant::now();
    for schema in [
        json!({ "properties": { "v": { "$ref": "#/$defs/d0" } }, "$defs": doubling }),
        schema_of_argument(&endless),
        endless,
    ] {
        assert_eq!(without_optional_nulls(&schema, &json!({ "v": { "n": null }, "n": null })), None);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // A recursive schema is followed as deep as the arguments go.
    let tree = json!({ "properties": { "left": { "$ref": "#" }, "depth": { "type": "integer" } } });
    let given = json!({ "left": { "left": { "left": { "depth": null } } } });
    let expected = json!({ "left": { "left": { "left": {} } } });
    assert_eq!(without_optional_nulls(&tree, &given), Some(expected));
}
