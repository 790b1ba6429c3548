//! Tests of the splitting of lines into words.

use super::{SplitLine, quote_word};

fn texts(line: &str) -> Vec<String> {
    SplitLine::parse(line).texts_after(0)
}

// U4
#[test]
fn quotes_and_backslashes_keep_spaces_in_a_word() {
    let rows: [(&str, &[&str]); 8] = [
        ("", &[]),
        ("  a  b ", &["a", "b"]),
        ("say 'two words' \"and 'more'\"", &["say", "two words", "and 'more'"]),
        (r#"a\ b "c\"d" 'e\f'"#, &["a b", "c\"d", "e\\f"]),
        ("key=\"a b\"c", &["key=a bc"]),
        ("'' x", &["", "x"]),
        ("trailing\\", &["trailing\\"]),
        ("größe=\"ä ö\"", &["größe=ä ö"]),
    ];
    for (line, expected) in rows {
        assert_eq!(texts(line), expected, "{line}");
    }
}

// U4
#[test]
fn json_needs_no_quotes() {
    let rows: [(&str, &[&str]); 5] = [
        (r#"t {"a": 1, "b": "} x"} c=2"#, &["t", r#"{"a": 1, "b": "} x"}"#, "c=2"]),
        (r#"t list:=[1, "a b", {"c": []}]"#, &["t", r#"list:=[1, "a b", {"c": []}]"#]),
        (r#"t {"a": "\"}"} b"#, &["t", r#"{"a": "\"}"}"#, "b"]),
        ("t a={x y}", &["t", "a={x", "y}"]),
        ("t [1 2]", &["t", "[1", "2]"]),
    ];
    for (line, expected) in rows {
        assert_eq!(texts(line), expected, "{line}");
    }
}

// U4
#[test]
fn open_quotes_and_brackets_are_reported() {
    for (line, open) in [("a 'b c", '\''), ("a \"b", '"'), ("a {\"b\": 1", '{'), ("a b:=[1", '[')] {
        assert_eq!(SplitLine::parse(line).unclosed, Some(open), "{line}");
    }
    assert_eq!(SplitLine::parse("it\\'s 'fine'").unclosed, None);
}

// U4
#[test]
fn words_know_their_place_in_the_line() {
    let line = "ab  'c d' e";
    let spans: Vec<&str> = SplitLine::parse(line).words.iter().map(|word| &line[word.span.clone()]).collect();
    assert_eq!(spans, ["ab", "'c d'", "e"]);
}

// U4
#[test]
fn quoted_words_are_read_back_unchanged() {
    for text in ["plain", "", "two words", "a\"b", "it's", "back\\slash", "tab\there", "ä"] {
        assert_eq!(texts(&quote_word(text)), [text], "{text}");
    }
}
