//! What a text becomes, by what the schema wants.

use serde_json::{Value, json};

use super::{arguments_in, refusal_in};

fn property(schema: &Value) -> Value {
    json!({"properties": {"x": schema}})
}

// U2 N8
#[test]
fn the_schema_decides_the_kind() {
    let cases = [
        (json!({"type": "string"}), "5", json!("5")),
        (json!({"type": "integer"}), "-5", json!(-5)),
        (json!({"type": "integer"}), "18446744073709551615", json!(u64::MAX)),
        (json!({"type": "number"}), "1e3", json!(1000.0)),
        (json!({"type": "boolean"}), "false", json!(false)),
        (json!({"type": "null"}), "null", json!(null)),
        (json!({"type": "object"}), r#"{"a":1}"#, json!({"a": 1})),
        (json!({"type": "array"}), "[1,\"a\"]", json!([1, "a"])),
        (json!({"type": "array"}), "a", json!(["a"])),
        (json!({"type": "array"}), "1", json!([1])),
        (json!({"type": "array", "items": {"type": "array"}}), "[1]", json!([[1]])),
        (json!({"type": "array", "items": {"type": "array"}}), "[[1],[2]]", json!([[1], [2]])),
        (json!({"type": "array", "items": {"type": "object"}}), r#"{"a":1}"#, json!([{"a": 1}])),
        (json!({"type": ["array", "null"], "items": {"type": "string"}}), "null", json!(null)),
        (json!({"type": ["array", "null"], "items": {"type": "string"}}), "no", json!(["no"])),
        (json!({"type": ["string", "null"]}), "null", json!(null)),
        (json!({"type": ["string", "integer"]}), "5", json!(5)),
        (json!({"type": ["string", "integer"]}), "5.5", json!("5.5")),
        (json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), "a", json!("a")),
        (json!({"enum": ["1", "2"]}), "1", json!("1")),
        (json!({"enum": ["1", 2]}), "1", json!("1")),
        (json!({"enum": ["1", 2]}), "2", json!(2)),
        (json!({"const": 7}), "7", json!(7)),
        (json!({"$ref": "#/properties/y"}), "7", json!("7")),
        (json!({"allOf": [{"$ref": "#/nowhere"}, {"type": "integer"}]}), "7", json!(7)),
        (json!({"$ref": "https://example.com/schema"}), "7", json!(7)),
    ];
    for (schema, text, expected) in cases {
        let mut whole = property(&schema);
        whole["properties"]["y"] = json!({"type": "string"});
        let expected = json!({"x": expected}).to_string();
        assert_eq!(arguments_in(&whole, &[&format!("x={text}")]), expected, "{schema} {text}");
        assert_eq!(arguments_in(&whole, &[&format!("--x={text}")]), expected, "{schema} {text}");
    }
}

// U2
#[test]
fn without_a_kind_json_is_json_and_the_rest_is_text() {
    let cases = [
        ("5", json!(5)),
        ("-1.5", json!(-1.5)),
        ("true", json!(true)),
        ("null", json!(null)),
        ("[1]", json!([1])),
        (r#"{"a":1}"#, json!({"a": 1})),
        ("hello", json!("hello")),
        (r#""quoted""#, json!("\"quoted\"")),
        ("", json!("")),
        ("007", json!("007")),
        ("1.10", json!("1.10")),
        ("1e400", json!("1e400")),
        ("123456789012345678901234567890", json!("123456789012345678901234567890")),
        (" 5", json!(" 5")),
    ];
    for (text, expected) in cases {
        let words = [format!("x={text}")];
        assert_eq!(
            arguments_in(&property(&json!({})), &[&words[0]]),
            json!({"x": expected}).to_string(),
            "{text}"
        );
    }
}

// U2 N8
#[test]
fn a_text_of_another_kind_is_refused_with_what_is_wanted() {
    let cases = [
        (json!({"type": "integer"}), "1.5", "`x` must be an integer"),
        (json!({"type": "integer"}), "", "`x` must be an integer"),
        (
            json!({"type": "integer"}),
            "123456789012345678901234567890",
            "`x` must be an integer: an integer beyond 64 bits would lose digits",
        ),
        (json!({"type": "number"}), "1,5", "`x` must be a number"),
        (json!({"type": "boolean"}), "yes", "`x` must be `true` or `false`"),
        (json!({"type": ["integer", "null"]}), "x", "`x` must be an integer or `null`"),
        (json!({"type": "array", "items": {"type": "integer"}}), "x", "`x` must be an integer"),
        (json!({"type": "object"}), "[]", "`x` must be an object"),
        (
            json!({"type": "object"}),
            "{",
            "`x` must be an object: EOF while parsing an object at line 1 column 1",
        ),
    ];
    for (schema, text, expected) in cases {
        let (code, message, _) = refusal_in(&property(&schema), &[&format!("x={text}")]);
        assert_eq!((code, message.as_str()), ("usage", expected), "{schema} {text}");
    }
    assert_eq!(
        refusal_in(&property(&json!({})), &["x:=nope"]).1,
        "`x` must be JSON: expected ident at line 1 column 2"
    );
}

// U2 B04: what would arrive as another number is not sent.
#[test]
fn an_integer_that_would_lose_digits_is_refused_wherever_it_stands() {
    let schema = json!({"type": "object", "properties": {"x": {}}});
    let long = "123456789012345678901234567890";
    for (word, what) in [
        (format!(r#"{{"x": {{"y": [1, -{long}]}}}}"#), "the argument: "),
        (format!("x:=[{long}]"), "`x` must be JSON: "),
    ] {
        let (code, message, _) = refusal_in(&schema, &[&word]);
        assert_eq!(
            (code, message),
            ("usage", format!("{what}an integer beyond 64 bits would lose digits")),
            "{word}"
        );
    }
    for (word, expected) in [
        (format!(r#"{{"x": "\\\"{long}"}}"#), json!({ "x": format!("\\\"{long}") })),
        (format!("x={long}"), json!({ "x": long })),
        (
            r#"{"x": [18446744073709551615, -9223372036854775808, -0, 1.5e3]}"#.to_owned(),
            json!({ "x": [u64::MAX, i64::MIN, -0.0, 1500.0] }),
        ),
    ] {
        assert_eq!(arguments_in(&schema, &[&word]), expected.to_string(), "{word}");
    }
}

// U2: a schema that refers to itself, or multiplies, ends.
#[test]
fn a_schema_without_end_ends() {
    let itself = json!({"$ref": "#", "properties": {"x": {"$ref": "#/properties/x"}}});
    assert_eq!(arguments_in(&itself, &["x=1"]), r#"{"x":1}"#);
    let mut bomb = json!({"properties": {"x": {"$ref": "#/d/0"}}, "d": {}});
    for n in 0..200 {
        let next = json!({"$ref": format!("#/d/{}", n + 1)});
        bomb["d"][n.to_string()] = json!({"anyOf": [next, next, next, next]});
    }
    bomb["d"]["200"] = json!({"type": "integer"});
    // The limit comes first, so nothing is known of `x`.
    assert_eq!(arguments_in(&bomb, &["x=1"]), r#"{"x":1}"#);
}
