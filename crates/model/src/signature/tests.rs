//! When two declarations are one, and when an approval no longer holds.

use super::*;
use crate::document::Document;
use crate::expand::Env;
use crate::scope::{Origin, Source};

fn read(text: &str, token: &str) -> (RawServer, ServerConfig) {
    let env: Env = [("TOKEN".to_owned(), token.to_owned())].into_iter().collect();
    let document = Document::parse(Source::inline("test"), text).unwrap();
    let raw = RawServer::read("s", document.root().unwrap()).unwrap();
    let config = raw.to_config(&env, &Origin::whole(Source::inline("test"))).unwrap();
    (raw, config)
}

fn signature(text: &str) -> Signature {
    Signature::of(&read(text, "t").1)
}

fn definition(text: &str, token: &str) -> Definition {
    let (raw, config) = read(text, token);
    Definition::of(&raw, &config)
}

// C11
#[test]
fn what_affects_the_connection_changes_the_signature() {
    let base = r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}}"#;
    for other in [
        r#"{"command": "y", "args": ["a", "b"], "env": {"K": "v", "L": "w"}}"#,
        r#"{"command": "x", "args": ["ab"], "env": {"K": "v", "L": "w"}}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v"}}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}, "cwd": "/"}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}, "inheritEnv": true}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}, "era": "old"}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}, "roots": false}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}, "roots": []}"#,
        r#"{"command": "x", "args": ["a", "b"], "env": {"K": "v", "L": "w"}, "roots": ["/a"]}"#,
    ] {
        assert_ne!(signature(base), signature(other), "{other}");
    }
    let http = r#"{"type": "http", "url": "https://h/"}"#;
    for other in [
        r#"{"type": "sse", "url": "https://h/"}"#,
        r#"{"type": "http", "url": "https://h/x"}"#,
        r#"{"type": "http", "url": "https://h/", "headers": {"A": "b"}}"#,
        r#"{"type": "http", "url": "https://h/", "headersHelper": "h"}"#,
        r#"{"type": "http", "url": "https://h/", "oauth": {}}"#,
    ] {
        assert_ne!(signature(http), signature(other), "{other}");
    }
}

// C11
#[test]
fn what_does_not_affect_the_connection_leaves_the_signature_alone() {
    let base = r#"{"command": "x", "env": {"K": "v", "L": "w"}}"#;
    for same in [
        r#"{"env": {"L": "w", "K": "v"}, "command": "x", "type": "stdio"}"#,
        r#"{"command": "x", "env": {"K": "v", "L": "w"}, "timeout": 1, "alwaysLoad": true, "required": true}"#,
        r#"{"command": "x", "env": {"K": "v", "L": "w"}, "disabledTools": ["a"], "unknown": 1}"#,
    ] {
        assert_eq!(signature(base), signature(same), "{same}");
    }
}

// C8
#[test]
fn an_endpoint_is_the_address_or_the_command_with_its_environment() {
    let endpoint = |text| Endpoint::of(&read(text, "t").1);
    assert_eq!(
        endpoint(r#"{"type": "http", "url": "https://h/", "headers": {"A": "1"}}"#),
        endpoint(r#"{"type": "sse", "url": "HTTPS://H"}"#)
    );
    assert_ne!(endpoint(r#"{"command": "x", "env": {"A": "1"}}"#), endpoint(r#"{"command": "x"}"#));
    assert_eq!(endpoint(r#"{"type": "sdk", "name": "x"}"#), None);
}

// C7 B21 B24
#[test]
fn an_approval_holds_while_credentials_rotate_and_ends_when_anything_else_changes() {
    let base = r#"{"command": "x", "args": ["a"], "env": {"K": "${TOKEN}"}}"#;
    assert_eq!(definition(base, "old"), definition(base, "new"), "a rotated token is no new server");
    for changed in [
        r#"{"command": "x", "args": ["b"], "env": {"K": "${TOKEN}"}}"#,
        r#"{"command": "y", "args": ["a"], "env": {"K": "${TOKEN}"}}"#,
        r#"{"command": "x", "args": ["a"], "env": {"K": "${TOKEN}x"}}"#,
        r#"{"command": "x", "args": ["a"], "env": {"J": "${TOKEN}"}}"#,
        r#"{"command": "x", "args": ["a"], "env": {"K": "${TOKEN}"}, "cwd": "/"}"#,
    ] {
        assert_ne!(definition(base, "old"), definition(changed, "old"), "{changed}");
    }
    let argument = r#"{"command": "x", "args": ["${TOKEN}"]}"#;
    assert_ne!(definition(argument, "old"), definition(argument, "new"), "a variable that changes what runs");
}

// X6 C7: other folders are another server to whoever approves it, and none of these shares a connection.
#[test]
fn roots_change_what_is_approved_and_what_is_shared() {
    let entries = [
        r#"{"command": "x"}"#,
        r#"{"command": "x", "roots": false}"#,
        r#"{"command": "x", "roots": ["/a"]}"#,
        r#"{"command": "x", "roots": ["/a", "/b"]}"#,
    ];
    let definitions: std::collections::HashSet<_> = entries.map(|text| definition(text, "t")).into();
    let signatures: std::collections::HashSet<_> = entries.map(signature).into();
    assert_eq!((definitions.len(), signatures.len()), (4, 4));
}
