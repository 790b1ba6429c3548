//! Tests of positions of values, and of the accepted JSON syntax.

use super::*;

fn parse(text: &str) -> Result<JsonDocument<'_>, SyntaxError> {
    JsonDocument::parse(Source::from_label("test"), text)
}

// C6 C15
#[test]
fn every_value_has_its_line_and_column() {
    let text = "{\n  \"a\": 1,\r\n\t\"ü\": {\"b\": [true, \"x\"]}\n}";
    let document = parse(text).unwrap();
    let inner = document.root().unwrap().get("ü").unwrap();
    let list = inner.get("b").unwrap();
    let places: Vec<String> =
        list.as_array().unwrap().chain([inner, list]).map(|node| node.origin().to_string()).collect();
    assert_eq!(places, ["test:3:14", "test:3:20", "test:3:7", "test:3:13"]);
    let names: Vec<String> =
        document.root().unwrap().as_object().unwrap().map(|member| member.origin().to_string()).collect();
    assert_eq!(names, ["test:2:3", "test:3:2"]);
}

// C6 C15: an error and a value in the same place have the same position.
#[test]
fn carriage_return_alone_ends_a_line() {
    let text = "// c\r{\"a\": [1],\r\n\r\"b\": [2]}";
    let document = parse(text).unwrap();
    let members = document.root().unwrap().as_object().unwrap();
    let places: Vec<String> = members.map(|member| member.origin().to_string()).collect();
    assert_eq!(places, ["test:2:2", "test:4:1"]);
    let error = parse(&text.replace("\"b\"", "?")).unwrap_err();
    assert_eq!((error.place.line, error.place.column), (4, 1));
}

// F78
#[test]
fn comments_and_trailing_commas_parse_and_other_leniency_is_refused() {
    for text in ["", "  \n", "// c\n{}", "{\"a\": 1,}", "{/* c */}", "\u{feff}{}", "{\r\n}\r\n", "[1,]"] {
        assert!(parse(text).is_ok(), "{text:?}");
    }
    for (text, message) in [
        ("{", "test:1:1: not JSON: unterminated object"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "test:2:9: not JSON: expected comma"),
        ("{a: 1}", "test:1:2: not JSON: expected string for object property"),
        ("{'a': 1}", "test:1:2: not JSON: single-quoted strings are not allowed"),
        ("{\"a\": 0x1}", "test:1:7: not JSON: hexadecimal numbers are not allowed"),
        ("{\"a\": NaN}", "test:1:7: not JSON: unexpected token"),
        ("{} {}", "test:1:4: not JSON: text cannot contain more than one JSON value"),
    ] {
        assert_eq!(parse(text).map(|_| ()).unwrap_err().to_string(), message, "{text:?}");
    }
}

// B55
#[test]
fn nesting_depth_is_limited_without_stack_overflow() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(parse(&deep).is_err());
}

// H22
#[test]
fn last_duplicate_key_is_found_and_all_are_listed() {
    let document = parse("{\"a\": 1, \"A\": 2, \"a\": 3}").unwrap();
    let root = document.root().unwrap();
    assert_eq!(root.get("a").and_then(Node::as_number), Some("3"));
    assert_eq!(root.as_object().unwrap().len(), 3);
}
