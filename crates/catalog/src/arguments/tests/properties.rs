//! Random schemas and arguments: the checker never panics, and its mismatches are bounded.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::Value;

use super::checker;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    fn check_any_schema(schema in schemas(), arguments in schemas()) {
        let checker = checker(&schema);
        if let Err(misfits) = checker.check_arguments(&arguments) {
            MISFITTING.fetch_add(1, Ordering::Relaxed);
            prop_assert!((1..=5).contains(&misfits.len()));
        }
    }
}

/// The number of cases that reached the check.
static MISFITTING: AtomicU32 = AtomicU32::new(0);

// B103 H25
#[test]
fn no_schema_makes_the_checker_panic() {
    check_any_schema();
    assert!(MISFITTING.load(Ordering::Relaxed) > 0, "no arguments were refused");
}

/// Random values made of schema keywords.
fn schemas() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "anyOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "required",
        "pattern",
        "enum",
        "const",
        "if",
        "then",
        "additionalProperties",
        "patternProperties",
        "$id",
        "$anchor",
        "minimum",
        "a",
        "#",
        "#/$defs/a",
        "object",
        "string",
        "[",
        "unevaluatedProperties",
        "dependentSchemas",
        "contains",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let member = (word.clone().prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            prop::collection::vec(member, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
