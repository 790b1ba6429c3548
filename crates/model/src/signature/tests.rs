//! Tests of equal declarations, and of approvals that no longer hold.

use super::*;
use crate::document::JsonDocument;
use crate::expand::Env;
use crate::scope::{ConfigOrigin, Source};

fn read(text: &str, token: &str) -> (RawServer, ServerConfig) {
    let env: Env = [("TOKEN".to_owned(), token.to_owned())].into_iter().collect();
    let document = JsonDocument::parse(Source::from_label("test"), text).unwrap();
    let raw = RawServer::from_node("s", document.root().unwrap()).unwrap();
    let config = raw.to_config(&env, &ConfigOrigin::for_source(Source::from_label("test"))).unwrap();
    (raw, config)
}

fn signature(text: &str) -> Signature {
    Signature::from_config(&read(text, "t").1)
}

fn definition(text: &str, token: &str) -> DefinitionHash {
    let (raw, config) = read(text, token);
    DefinitionHash::from_config(&raw, &config)
}

fn written_definition(text: &str) -> DefinitionHash {
    let (raw, config) = read(text, "t");
    DefinitionHash::from_written(&raw, config.kind())
}

// C11
#[test]
fn connection_settings_change_the_signature() {
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
fn other_settings_do_not_change_the_signature() {
    let base = r#"{"command": "x", "env": {"K": "v", "L": "w"}}"#;
    for same in [
        r#"{"env": {"L": "w", "K": "v"}, "command": "x", "type": "stdio"}"#,
        r#"{"command": "x", "env": {"K": "v", "L": "w"}, "timeout": 1, "alwaysLoad": true, "required": true}"#,
        r#"{"command": "x", "env": {"K": "v", "L": "w"}, "disabledTools": ["a"], "unknown": 1}"#,
        r#"{"command": "x", "env": {"K": "v", "L": "w"}, "share": "never"}"#,
    ] {
        assert_eq!(signature(base), signature(same), "{same}");
    }
}

// C8
#[test]
fn an_endpoint_is_the_address_or_the_command_with_its_environment() {
    let endpoint = |text| EndpointHash::from_config(&read(text, "t").1);
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

// X6 C7: other roots need another approval and another connection.
#[test]
fn roots_change_definition_and_signature() {
    let entries = [
        r#"{"command": "x"}"#,
        r#"{"command": "x", "roots": false}"#,
        r#"{"command": "x", "roots": ["/a"]}"#,
        r#"{"command": "x", "roots": ["/a", "/b"]}"#,
    ];
    let definitions: std::collections::HashSet<_> = entries.map(|text| definition(text, "t")).into();
    let signatures: std::collections::HashSet<_> = entries.map(signature).into();
    let written: std::collections::HashSet<_> = entries.map(written_definition).into();
    assert_eq!((definitions.len(), signatures.len(), written.len()), (4, 4, 4));
}

// C7: the approval of an entry by its text ends when the resource parameter changes.
#[test]
fn resource_parameter_changes_the_written_definition() {
    let entries = [
        r#"{"url": "https://a/mcp", "oauth": {}}"#,
        r#"{"url": "https://a/mcp", "oauth": {"resource": true}}"#,
        r#"{"url": "https://a/mcp", "oauth": {"resource": false}}"#,
    ];
    let written: std::collections::HashSet<_> = entries.map(written_definition).into();
    assert_eq!(written.len(), 3);
}
