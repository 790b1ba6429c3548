//! Options made from the schema, and options of the command itself.

use mcparley::model::explain::Explain as _;
use serde_json::json;

use super::{arguments, arguments_in, refusal, typed, typed_in};

// U2
#[test]
fn options_come_from_the_schema() {
    let cases: [(&[&str], &str); 17] = [
        (&["--message", "hi"], r#"{"message":"hi"}"#),
        (&["--message=hi"], r#"{"message":"hi"}"#),
        (&["--message="], r#"{"message":""}"#),
        (&["--message=--hi"], r#"{"message":"--hi"}"#),
        (&["--message", "-"], r#"{"message":"-"}"#),
        (&["--message", "-h"], r#"{"message":"-h"}"#),
        (&["--message", "@file"], r#"{"message":"@file"}"#),
        (&["--message", "a=b"], r#"{"message":"a=b"}"#),
        (&["--count", "-3"], r#"{"count":-3}"#),
        (&["--force", "--count", "3"], r#"{"force":true,"count":3}"#),
        (&["--no-force"], r#"{"force":false}"#),
        (&["--force=false"], r#"{"force":false}"#),
        (&["--tags", "a", "--tags=b"], r#"{"tags":["a","b"]}"#),
        (&["--file-path", "x"], r#"{"filePath":"x"}"#),
        (&["--filePath", "x", "--dry-run"], r#"{"filePath":"x","dry_run":true}"#),
        (&["--dry_run", "--file_path=x"], r#"{"dry_run":true,"filePath":"x"}"#),
        (&["--limit", "null"], r#"{"limit":null}"#),
    ];
    for (words, expected) in cases {
        assert_eq!(arguments(words), expected, "{words:?}");
    }
}

// U2
#[test]
fn names_are_read_in_the_manner_of_options() {
    let schema = json!({"properties": {
        "HTMLPage": {}, "maxResults2Show": {}, "a_b": {"type": "integer"}, "aB": {"type": "integer"},
        "no-cache": {"type": "boolean"}, "cache": {"type": "boolean"}, "with space": {},
    }});
    assert_eq!(
        arguments_in(&schema, &["--html-page=1", "--max-results2-show=2", "--with-space=3"]),
        r#"{"HTMLPage":1,"maxResults2Show":2,"with space":3}"#
    );
    assert_eq!(arguments_in(&schema, &["--a_b=1", "--aB=2"]), r#"{"a_b":1,"aB":2}"#);
    assert_eq!(
        arguments_in(&schema, &["--no-cache"]),
        r#"{"no-cache":true}"#,
        "a property of that name is meant"
    );
    let error = typed_in(&schema, &["--a-b=1"], "").unwrap_err();
    assert_eq!(error.to_string(), "`--a-b` matches several arguments");
    assert_eq!(error.hint().unwrap(), "use the exact name: `a_b`, `aB`");
}

// U2 U3
#[test]
fn options_of_the_command_stand_behind_the_tool_too() {
    let read = typed(&["message=hi", "--json", "--timeout", "5", "--timeout=6"]);
    assert_eq!(read.own_options, ["--json", "--timeout=5", "--timeout=6"]);
    assert_eq!(read.arguments.len(), 1);
    let schema = json!({"properties": {"json": {"type": "string"}, "timeout": {"type": "integer"}}});
    let read = typed_in(&schema, &["--json", "{}", "--timeout=1"], "").unwrap();
    assert_eq!((read.own_options.len(), read.arguments.len()), (0, 2), "the tool's own comes first");
    let open = json!({});
    let read = typed_in(&open, &["--json", "--", "--json", "x"], "").unwrap();
    assert_eq!(read.own_options, ["--json"], "after `--` every option belongs to the tool");
    assert_eq!(serde_json::Value::Object(read.arguments).to_string(), r#"{"json":"x"}"#);
    assert_eq!(refusal(&["--json=1"]).1, "option `--json` takes no value");
    assert_eq!(refusal(&["--timeout"]).1, "`--timeout` needs a value");
}

// U2
#[test]
fn help_is_asked_for_behind_the_tool() {
    for words in [&["--help"][..], &["-h"], &["message=hi", "--help", "nonsense"]] {
        assert!(typed(words).help, "{words:?}");
    }
    let schema = json!({"properties": {"help": {"type": "boolean"}}});
    assert_eq!(arguments_in(&schema, &["--help"]), r#"{"help":true}"#);
    assert!(typed_in(&schema, &["-h"], "").unwrap().help);
}
