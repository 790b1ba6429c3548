//! Words that make no sense, and what is said about them.

use serde_json::json;

use super::{refusal, refusal_in};

fn all(cases: &[(&[&str], &str, &str)]) {
    for (words, message, hint) in cases {
        assert_eq!(refusal(words), ("usage", (*message).to_owned(), (*hint).to_owned()), "{words:?}");
    }
}

// U2
#[test]
fn a_word_that_makes_no_sense_is_named() {
    let forms = "write `key=value`, `--key value` or a JSON object; run `mcparley call SERVER TOOL --help` to see the arguments";
    let object = r#"write it like '{"key":"value"}'"#;
    all(&[
        (&["hello"], "`hello` is not an argument", forms),
        (&["--force", "true"], "`true` is not an argument", forms),
        (&["-x"], "`-x` is not an argument", forms),
        (&["-x=1"], "`-x=1` is not an argument", forms),
        (&["--", "--"], "`--` is not an argument", forms),
        (&["[1]"], "`[1]` is not an argument", forms),
        (&[""], "`` is not an argument", forms),
        (&["=x"], "`=x` has no key", "write `key=value`"),
        (&[":=1"], "`:=1` has no key", "write `key=value`"),
        (&["--=x"], "`--=` has no name", "write `--key value`"),
        (&["{"], "the argument is not JSON: EOF while parsing an object at line 1 column 1", object),
        (
            &["--message"],
            "`--message` needs a value",
            "write `--message VALUE`, or `--message=VALUE` if the value begins with `--`",
        ),
        (
            &["--message", "--force"],
            "`--message` needs a value",
            "write `--message VALUE`, or `--message=VALUE` if the value begins with `--`",
        ),
    ]);
}

// U2
#[test]
fn an_argument_is_given_once() {
    let hint = "pass it once; only arrays can be repeated";
    all(&[
        (&["count=1", "count=2"], "`count` is given twice", hint),
        (&["count=1", "--count=2"], "`--count` is given twice", hint),
        (&[r#"{"count":1}"#, "count=2"], "`count` is given twice", hint),
        (&["count=2", r#"{"count":1}"#], "`count` is given twice", hint),
        (&["--force", "--no-force"], "`--no-force` is given twice", hint),
        (&["where.path=1", "where.path=2"], "`where.path` is given twice", hint),
        (&["where.path=1", "where={}"], "`where` is given twice", hint),
        (&["anything=1", "anything=2"], "`anything` is given twice", hint),
        (&["where:=1", "where.path=2"], "`where.path` is given twice", hint),
    ]);
}

// U2
#[test]
fn an_unknown_argument_is_told_with_what_comes_near() {
    all(&[
        (
            &["mesage=hi"],
            "unknown argument `mesage`",
            "did you mean `message`? (`mesage:=JSON` is sent unchecked)",
        ),
        (&["--mesage=hi"], "unknown argument `--mesage`", "did you mean `--message`?"),
        (&["--file-pat", "x"], "unknown argument `--file-pat`", "did you mean `--file-path`?"),
        (&["--jsn"], "unknown argument `--jsn`", "did you mean `--json`?"),
        (&["--", "--where.pth=1"], "unknown argument `--where.pth`", "did you mean `--where.path`?"),
    ]);
    let closed = json!({"properties": {"alpha": {}, "beta": {}}, "additionalProperties": false});
    let expected = "known arguments: `alpha`, `beta`".to_owned();
    assert_eq!(refusal_in(&closed, &["zzzzzzzzz:=1"]).2, expected, "even as JSON");
    let none = json!({"properties": {}, "additionalProperties": false});
    assert_eq!(refusal_in(&none, &["a=1"]).2, "the tool takes no arguments");
}
