//! Parsing of forms, their warnings, and the validation of answers.

use serde_json::json;

use super::super::field::{FieldChoice, FieldKind, FieldWarning};
use super::*;

fn form(properties: &Value, required: &[&str]) -> Result<ElicitationForm, FormError> {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    ElicitationForm::parse(Some(RawJson::from_value(&schema).unwrap()))
}

fn field(schema: &Value) -> FormField {
    form(&json!({ "it": schema }), &[]).unwrap().fields.remove(0)
}

fn choices(values: &[(&str, &str)]) -> Vec<FieldChoice> {
    values
        .iter()
        .map(|(value, title)| FieldChoice { value: (*value).into(), title: (*title).into() })
        .collect()
}

// X5
#[test]
fn every_field_kind_of_the_protocol_is_parsed() {
    let text = FieldKind::Text { format: Some("email".into()), shortest: Some(1), longest: Some(9) };
    let whole = FieldKind::Number { whole: true, least: Some(1.into()), most: Some(9.into()) };
    let some = |among| FieldKind::Choices { among, least: Some(1), most: Some(2) };
    let titled = json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }]);
    let plain = choices(&[("a", "a"), ("b", "b")]);
    let named = choices(&[("a", "A"), ("b", "B")]);
    for (schema, kind) in [
        (json!({ "type": "string", "format": "email", "minLength": 1, "maxLength": 9 }), text),
        (json!({ "type": "integer", "minimum": 1, "maximum": 9 }), whole),
        (json!({ "type": "number" }), FieldKind::Number { whole: false, least: None, most: None }),
        (json!({ "type": "boolean" }), FieldKind::Switch),
        (json!({ "type": "string", "enum": ["a", "b"] }), FieldKind::Choice(plain.clone())),
        (
            json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] }),
            FieldKind::Choice(named.clone()),
        ),
        (json!({ "type": "string", "oneOf": titled }), FieldKind::Choice(named.clone())),
        (
            json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "minItems": 1, "maxItems": 2 }),
            some(plain),
        ),
        (json!({ "type": "array", "items": { "anyOf": titled }, "minItems": 1, "maxItems": 2 }), some(named)),
    ] {
        let read = field(&schema);
        assert_eq!(read.kind, kind, "{schema}");
        assert_eq!(read.warnings, [], "{schema}");
    }
}

// B111
#[test]
fn form_that_cannot_be_filled_in_is_rejected() {
    let many: Map<String, Value> =
        (0..10_000).map(|number| (number.to_string(), json!({ "type": "string" }))).collect();
    let long: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let nested = FormError::Nested { field: "it".into() };
    for (schema, fault) in [
        (json!({ "type": "object", "properties": {} }), nested.clone()),
        (json!({ "type": "array", "items": { "type": "object" } }), nested.clone()),
        (json!({ "type": "array" }), nested.clone()),
        (json!({ "type": "string", "oneOf": [{ "type": "object" }] }), nested),
        (json!({ "type": "null" }), FormError::Kind { field: "it".into() }),
        (json!({}), FormError::Kind { field: "it".into() }),
        (json!("text"), FormError::Kind { field: "it".into() }),
        (json!({ "type": "string", "enum": long }), FormError::Choices { field: "it".into() }),
    ] {
        assert_eq!(form(&json!({ "it": schema }), &[]).unwrap_err(), fault, "{schema}");
    }
    assert_eq!(form(&Value::Object(many), &[]).unwrap_err(), FormError::Fields);
    assert_eq!(form(&json!(7), &[]).unwrap_err(), FormError::NoSchema);
    assert_eq!(ElicitationForm::parse(None).unwrap_err(), FormError::NoSchema);
    let large = json!({ "it": { "type": "string", "description": "x".repeat(SCHEMA_BYTES) } });
    assert_eq!(form(&large, &[]).unwrap_err(), FormError::TooLarge);
}

// B111 H30
#[test]
fn field_that_asks_for_a_secret_has_a_warning() {
    let doubts =
        |name: &str, schema: Value| form(&json!({ name: schema }), &[]).unwrap().fields.remove(0).warnings;
    let text = json!({ "type": "string" });
    for name in ["password", "API_KEY", "user-pass-word", "github token", "pin", "your PIN"] {
        assert_eq!(doubts(name, text.clone()), [FieldWarning::Secret], "{name}");
    }
    assert_eq!(doubts("a", json!({ "type": "string", "title": "Your passphrase" })), [FieldWarning::Secret]);
    let described = json!({ "type": "string", "description": "the secret of the client" });
    assert_eq!(doubts("b", described), [FieldWarning::Secret]);
    for name in ["name", "pinned", "spinner", "city", "compass"] {
        assert_eq!(doubts(name, text.clone()), [], "{name}");
    }
}

// B111
#[test]
fn default_of_the_wrong_type_is_ignored_with_a_warning() {
    for schema in [
        json!({ "type": "string", "default": 7 }),
        json!({ "type": "integer", "default": 1.5 }),
        json!({ "type": "number", "default": "1" }),
        json!({ "type": "boolean", "default": "true" }),
        json!({ "type": "string", "enum": ["a"], "default": "b" }),
        json!({ "type": "array", "items": { "type": "string", "enum": ["a"] }, "default": ["b"] }),
    ] {
        let read = field(&schema);
        assert_eq!((read.default, read.warnings), (None, vec![FieldWarning::WrongDefault]), "{schema}");
    }
}

// X5
#[test]
fn defaults_are_filled_in_and_unknown_fields_are_rejected() {
    let properties = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": false },
        "tags": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] }, "default": ["y"] },
        "note": { "type": "string", "maxLength": 3 },
    });
    let form = form(&properties, &["name"]).unwrap();
    let filled = json!({
        "name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": false, "tags": ["y"],
    });
    assert_eq!(form.defaults(), filled);
    assert_eq!(form.check_content(&filled), Ok(()));
    for (content, path) in [
        (json!({}), ""),
        (json!([]), ""),
        (json!({ "name": 7 }), "/name"),
        (json!({ "name": "a", "note": "long" }), "/note"),
        (json!({ "name": "a", "status": "gone" }), "/status"),
        (json!({ "name": "a", "tags": ["z"] }), "/tags/0"),
        (json!({ "name": "a", "more": 1 }), "/more"),
    ] {
        let misfits = form.check_content(&content).unwrap_err();
        assert_eq!(misfits[0].path, path, "{content}");
    }
}

// N7 B43
#[test]
fn displayed_texts_are_clean_and_sent_values_are_unmodified() {
    let hidden = "na\u{202e}me";
    let schema = json!({ "type": "string", "title": "Na\u{1b}[2Jme", "description": "a\u{200b}b" });
    let read = form(&json!({ hidden: schema }), &[]).unwrap().fields.remove(0);
    assert_eq!((read.name.as_str(), read.title.as_str()), (hidden, "Na[2Jme"));
    assert_eq!(read.description.as_deref(), Some("ab"));
    let chosen = field(&json!({ "type": "string", "enum": ["r\u{200b}ed"] }));
    assert_eq!(chosen.kind, FieldKind::Choice(choices(&[("r\u{200b}ed", "red")])));
}
