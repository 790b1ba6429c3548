//! Outlines are short, clean, and independent of the order of elements.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn of(value: &Value) -> String {
    outline_json(&value.to_string()).unwrap()
}

// R4
#[test]
fn outline_reads_like_a_type() {
    for (value, expected) in [
        (
            json!({ "name": "a", "items": [{ "id": 1 }, { "id": 2 }] }),
            "{name: string, items: [{id: number}]}",
        ),
        (json!([{ "a": 1 }, { "a": null, "b": true }, { "b": false }]), "[{a?: number|null, b?: boolean}]"),
        (json!([1, "a", null, [2], { "x": 1 }]), "[{x: number}|[number]|string|number|null]"),
        (json!({ "a": { "b": { "c": 1 }, "d": [[1]] } }), "{a: {b: {…}, d: […]}}"),
        (json!({ "a": [[[1]]] }), "{a: [[…]]}"),
        (json!({}), "{}"),
        (json!([]), "[]"),
        (json!({ "two words": 1, "": 2, "naïve": 3 }), r#"{"two words": number, "": number, naïve: number}"#),
    ] {
        assert_eq!(of(&value), expected, "{value}");
    }
}

// R4
#[test]
fn scalars_and_invalid_json_have_no_outline() {
    for text in ["", "plain text", "[not json", "{\"a\": }", "5", "\"text\"", "null", "{} {}"] {
        assert_eq!(outline_json(text), None, "{text}");
    }
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    assert_eq!(outline_json(&deep).unwrap(), "[[[…]]]");
    assert_eq!(outline_json(" [1e999, 12345678901234567890123] ").unwrap(), "[number]");
}

// R4 B43
#[test]
fn names_are_clean_and_short() {
    let long = "n".repeat(5_000);
    let value = json!({ "a\u{202e}b\u{200b}": 1, "c\u{1b}[2Jd": 2, long: 3 });
    let text = of(&value);
    let expected = format!(r#"{{ab: number, "c[2Jd": number, "{}… [truncated]": number}}"#, "n".repeat(40));
    assert_eq!(text, expected);
}

// R4
#[test]
fn many_names_are_cut_until_the_outline_fits() {
    let wide: serde_json::Map<String, Value> =
        (0..500).map(|at| (format!("name_{at}"), json!({ "inner_name": at, "other": "text" }))).collect();
    let text = of(&Value::Object(wide));
    assert!(text.chars().count() <= OUTLINE_CHARS, "{text}");
    assert!(
        text.starts_with("{name_0: {inner_name: number, other: string}, name_1") && text.ends_with(", …}"),
        "{text}"
    );
}

/// Strategy for JSON of moderate size with such member names.
fn json_with(names: &'static str) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 128, 12, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..12)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The value with all lists reversed.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().rev().map(reversed).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), reversed(value))).collect())
        }
        plain => plain.clone(),
    }
}

fn shape(value: &Value) -> Option<ValueShape> {
    let text = value.to_string();
    let mut shape = ValueShape::from_json(serde_json::from_str(&text).unwrap(), DEPTH)?;
    sort(&mut shape);
    Some(shape)
}

/// Puts all names in order.
fn sort(shape: &mut ValueShape) {
    if let Some(ListShape::Elements(all)) = &mut shape.list {
        all.iter_mut().for_each(sort);
    }
    if let Some(ObjectShape::Open { names, .. }) = &mut shape.object {
        names.sort_by(|one, other| one.name.cmp(&other.name));
        names.iter_mut().for_each(|name| sort(&mut name.shape));
    }
}

proptest! {
    fn check_outline_is_bounded_and_has_no_hidden_characters(value in json_with("\\PC{0,60}")) {
        if let Some(text) = outline_json(&value.to_string()) {
            OUTLINED_VALUES.fetch_add(1, Ordering::Relaxed);
            prop_assert!(text.chars().count() <= OUTLINE_CHARS);
            prop_assert_eq!(mcparley_model::text::hidden_count(&text), 0);
            prop_assert!(!text.contains('\n'));
        }
    }

    // R4
    #[test]
    fn the_order_of_elements_does_not_matter(value in json_with("[a-h]")) {
        prop_assert_eq!(shape(&value), shape(&reversed(&value)));
    }

    fn check_outline_never_panics(
        value in json_with("[a-h]"), at in any::<prop::sample::Index>(), odd in "[\\[\\]{}\",:0-9a-z\\\\ ]{0,3}",
    ) {
        let mut characters: Vec<char> = value.to_string().chars().collect();
        let at = at.index(characters.len() + 1);
        characters.splice(at..at, odd.chars());
        let text = String::from_iter(characters);
        if let Some(outline) = outline_json(&text) {
            OUTLINED_TEXTS.fetch_add(1, Ordering::Relaxed);
            prop_assert!(outline.chars().count() <= OUTLINE_CHARS);
        }
    }
}

/// The number of cases with an outline, to prove that the property is not vacuous.
static OUTLINED_TEXTS: AtomicU32 = AtomicU32::new(0);

// R4
#[test]
fn outline_never_panics_on_any_text() {
    check_outline_never_panics();
    assert!(OUTLINED_TEXTS.load(Ordering::Relaxed) > 0, "no text had an outline");
}

/// The number of cases with an outline, to prove that the property is not vacuous.
static OUTLINED_VALUES: AtomicU32 = AtomicU32::new(0);

// R4
#[test]
fn outline_is_bounded_and_has_no_hidden_characters() {
    check_outline_is_bounded_and_has_no_hidden_characters();
    assert!(OUTLINED_VALUES.load(Ordering::Relaxed) > 0, "no value had an outline");
}
