//! Malformed schemas: keywords with random values.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Dialect;
use super::{check, entry, json_of, list};

const WORDS: [&str; 35] = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "enum",
    "const",
    "$ref",
    "$defs",
    "definitions",
    "additionalProperties",
    "patternProperties",
    "format",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "title",
    "description",
    "default",
    "nullable",
    "$id",
    "id",
    "dependencies",
    "contains",
    "propertyNames",
    "examples",
    "a b",
];

const TEXTS: [&str; 9] = [
    "object",
    "array",
    "string",
    "any",
    "#",
    "#/$defs/a",
    "#/properties/a%20b",
    "http://example.com/s.json",
    "",
];

fn leaf() -> impl Strategy<Value = Value> {
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!([]),
        json!({}),
    ];
    prop_oneof![
        prop::sample::select(TEXTS.to_vec()).prop_map(Value::from),
        prop::sample::select(others.to_vec()),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned);
    let tree = leaf().prop_recursive(6, 60, 5, move |inner| {
        let members = prop::collection::vec((word(), inner.clone()), 0..6);
        prop_oneof![
            3 => members.prop_map(|members| Value::Object(members.into_iter().collect())),
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
        ]
    });
    tree.prop_map(|tree| {
        let mut map = tree.as_object().cloned().unwrap_or_default();
        map.insert("type".into(), json!("object"));
        Value::Object(map)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // N13 B103
    #[test]
    fn any_schema_gives_a_list_that_the_api_accepts(schema in schema()) {
        let entry = entry(&schema);
        for dialect in Dialect::ALL {
            let tools = list(dialect, std::slice::from_ref(&entry));
            let json = json_of(&tools);
            prop_assert_eq!(check::complaints(dialect.as_str(), &json), [""; 0], "{:#}\n{:#}", schema, json);
            prop_assert_eq!(tools.withheld.len() + check::schemas(dialect.as_str(), &json).len(), 1);
        }
    }
}
