//! Tests of the fast validator against `serde_json`.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::is_plain_json;

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(bytes).is_ok()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        "[\\\\\"\n\u{1}é/u]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let members = vec((".{0,12}", inner.clone()), 0..6);
        prop_oneof![
            vec(inner, 0..6).prop_map(Value::from),
            members.prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    // K7
    #[test]
    fn serialized_values_are_accepted_as_json(value in value()) {
        prop_assert!(is_plain_json(value.to_string().as_bytes()));
    }

    // K7
    #[test]
    fn invalid_json_is_never_accepted(
        value in value(),
        changes in vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(b','), Just(b'}'), Just(b'0'), Just(b' ')]), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = value.to_string().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let cut = &bytes[..cut.index(bytes.len())];
        prop_assert!(!is_plain_json(&bytes) || is_json(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
        prop_assert!(!is_plain_json(cut) || is_json(cut), "{:?}", String::from_utf8_lossy(cut));
    }
}

// B09 K7
#[test]
fn grammar_edge_cases_are_decided_correctly() {
    let json = "0|-0|10|1.5|-1e9|1E+2|2e-07|true|false|null|\"\"|\"\\u00e9\\/\"|[]|{}|[1, 2 ]|\"é\"|\
        {\"a\" : [ {} ] , \"b\":\"}\"}| 1";
    for text in json.split('|') {
        assert!(is_json(text.as_bytes()) && is_plain_json(text.as_bytes()), "{text}");
    }
    let damaged = "| |01|-|1.|.5|1e|+1|tru|nulll|\"|\"\\x\"|\"\\u12g4\"|\"\\|[|]|[1,]|[,1]|{,}|{\"a\"}|{\"a\":}|\
        {\"a\":1,}|{1:1}|[1}|{\"a\":1]|1 1|[]]|\"\u{1}\"|[1 2]|{\"a\":1 \"b\":2}";
    for text in damaged.split('|') {
        assert!(!is_json(text.as_bytes()) && !is_plain_json(text.as_bytes()), "{text}");
    }
    assert!(!is_plain_json(b"\"\xff\""));
}

// B03
#[test]
fn deep_nesting_is_left_to_the_full_parser() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(is_plain_json(nested(64).as_bytes()));
    assert!(!is_plain_json(nested(66).as_bytes()) && is_json(nested(66).as_bytes()));
}
