//! Tests of the scripts that damage replies.

use crate::stdio_client::{HI, Stdio, start};

/// Scripts, each with the line that answers `echo` with id 2; `$hi` is the correct result.
const DAMAGES: &[(&str, &str)] = &[
    ("not-json", r#"{"jsonrpc":"2.0","id":2,"result":{oops}}"#),
    ("result-and-error", r#"{"jsonrpc":"2.0","id":2,"result":$hi,"error":{"code":-32603,"message":"both"}}"#),
    ("neither", r#"{"jsonrpc":"2.0","id":2}"#),
    ("no-jsonrpc", r#"{"id":2,"result":$hi}"#),
    ("jsonrpc-1", r#"{"jsonrpc":"1.0","id":2,"result":$hi}"#),
    ("jsonrpc-number", r#"{"jsonrpc":2,"id":2,"result":$hi}"#),
    ("unknown-id", r#"{"jsonrpc":"2.0","id":987654321,"result":$hi}"#),
    ("duplicate-id", r#"{"jsonrpc":"2.0","id":2,"id":987654321,"result":$hi}"#),
    ("null-id", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no id"}}"#),
    ("null-id:result", r#"{"jsonrpc":"2.0","id":null,"result":$hi}"#),
    ("string-id", r#"{"jsonrpc":"2.0","id":"2","result":$hi}"#),
    ("float-id", r#"{"jsonrpc":"2.0","id":2.0,"result":$hi}"#),
    ("bool-id", r#"{"jsonrpc":"2.0","id":true,"result":$hi}"#),
    ("object-id", r#"{"jsonrpc":"2.0","id":{"id":2},"result":$hi}"#),
    ("case-keys", r#"{"jsonrpc":"2.0","ID":2,"Result":$hi}"#),
    ("wrong-shape", r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":"no list"}}"#),
];

/// Scripts, each with a part of the line that answers `echo`.
const MARKS: &[(&str, &[u8])] = &[
    ("bad-utf8", b"\"bad \xff\xfe bytes\""),
    ("lone-surrogate", br#""lone \ud800 surrogate""#),
    ("duplicate-result", br#"},"result":{"#),
    ("number-bombs", br#"{"exponent":1e999999,"zero":-0,"digits":99999"#),
    ("number-bombs:nan", br#"9,"nan":NaN}"#),
    ("deep:1000", b"[[[[[[[[[["),
];

pub(crate) fn words() -> Vec<&'static str> {
    let marks = MARKS.iter().map(|(script, _)| *script);
    DAMAGES.iter().map(|(script, _)| *script).chain(marks).chain(["huge", "huge-id-last", "twice"]).collect()
}

fn answered(script: &str) -> (Stdio, Vec<u8>) {
    let mut server = start(&[script]);
    server.greet();
    server.echo();
    let line = server.line().unwrap();
    (server, line)
}

#[test]
fn damaged_reply_matches_its_template() {
    for (script, expected) in DAMAGES {
        let (_server, line) = answered(script);
        assert_eq!(String::from_utf8(line).unwrap(), expected.replace("$hi", HI), "{script}");
    }
}

#[test]
fn damaged_reply_contains_its_marker() {
    for (script, mark) in MARKS {
        let (_server, line) = answered(script);
        assert!(line.starts_with(br#"{"jsonrpc":"2.0","id":2,"#), "{script}");
        assert!(line.windows(mark.len()).any(|part| part == *mark), "{script}");
    }
}

#[test]
fn deep_reply_has_requested_depth() {
    let (_server, line) = answered("deep:1000");
    let depth = |bracket| line.iter().filter(|byte| **byte == bracket).count();
    // One pair is the list of contents.
    assert_eq!((depth(b'['), depth(b']')), (1001, 1001));
    let (_server, line) = answered("deep:60");
    assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok(), "it is JSON");
}

#[test]
fn huge_reply_has_exact_size() {
    for (script, size) in [("huge:1", 1_048_576), ("huge:70001b", 70_001), ("huge-id-last:1", 1_048_576)] {
        let (_server, line) = answered(script);
        assert_eq!(line.len(), size, "{script}");
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["id"], 2, "{script}");
        assert_eq!(line.ends_with(br#","id":2}"#), script.starts_with("huge-id-last"), "{script}");
    }
}

#[test]
fn same_id_is_answered_twice() {
    let (mut server, line) = answered("twice");
    assert_eq!(server.line().unwrap(), line);
}
