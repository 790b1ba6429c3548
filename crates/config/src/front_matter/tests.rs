//! Tests of the meaning and the limits of front matter.

use std::sync::atomic::{AtomicU32, Ordering};

use mcparley_model::document::JsonDocument;
use mcparley_model::limits::FRONT_MATTER_DEPTH;
use proptest::prelude::*;

use super::*;

fn read(yaml: &str) -> Result<serde_json::Value, String> {
    let source = Source::from_label("file");
    let translation = translate_front_matter(&source, &format!("---\n{yaml}\n---\ntext"))
        .map_err(|error| error.to_string())?
        .unwrap_or_default();
    let document =
        JsonDocument::parse_translation(source, &translation).map_err(|error| error.to_string())?;
    Ok(document.root().map(mcparley_model::document::Node::to_json).unwrap_or_default())
}

#[test]
fn yaml_values_follow_the_core_schema() {
    let yaml = "\
name: reviewer  # who
empty:
list: [a, 'b c', \"d\\n\"]
servers:
  - github
  - own:
      command: run
      args: [\"-p\", '8080']
      timeout: 5000
      required: true
text: |
  two
  lines
folded: >-
  one
  line
url: https://h:1/x#y
numbers: [1, -2, +3, 1.5, 0x1f, 0o17, 1e3, 1.2.3, 2026-01-01, .inf]
words: [yes, ~, \"null\", 'true', -]";
    let expected = serde_json::json!({
        "name": "reviewer", "empty": null, "list": ["a", "b c", "d\n"],
        "servers": ["github", { "own": {
            "command": "run", "args": ["-p", "8080"], "timeout": 5000, "required": true,
        }}],
        "text": "two\nlines\n", "folded": "one line", "url": "https://h:1/x#y",
        "numbers": [1, -2, 3, 1.5, 31, 15, 1000.0, "1.2.3", "2026-01-01", ".inf"],
        "words": ["yes", null, "null", "true", "-"],
    });
    assert_eq!(read(&yaml.replace(", -]", ", '-']")).unwrap(), expected);
}

#[test]
fn values_keep_their_position_in_the_file() {
    let source = Source::from_label("file");
    let text = "---\nname: x\nservers:\n  ä: {command: [run]}\n---\n";
    let translation = translate_front_matter(&source, text).unwrap().unwrap();
    let document = JsonDocument::parse_translation(source, &translation).unwrap();
    let servers = document.root().unwrap().get("servers").unwrap();
    let member = servers.as_object().unwrap().next().unwrap();
    assert_eq!(member.origin().to_string(), "file:4:3");
    assert_eq!(member.value.get("command").unwrap().origin().to_string(), "file:4:16");
}

#[test]
fn text_without_a_fence_has_no_front_matter() {
    let source = Source::from_label("file");
    for text in ["", "# Title\n---\na: b\n---\n", "\n---\na: b\n---\n"] {
        assert!(translate_front_matter(&source, text).unwrap().is_none(), "{text:?}");
    }
    for text in ["---\n---\n", "\u{feff}---\r\na: b\r\n---\r\n", "---  \na: b\n---"] {
        assert!(translate_front_matter(&source, text).unwrap().is_some(), "{text:?}");
    }
}

#[test]
fn refused_yaml_is_reported_with_its_position() {
    let deep = format!("a: {}", "[".repeat(FRONT_MATTER_DEPTH + 1));
    let cases = [
        ("a: &x [1]\nb: *x", "file:3:4: aliases are not supported"),
        ("a: !!str 5", "file:2:4: tags are not supported"),
        ("a: !secret {}", "file:2:4: tags are not supported"),
        ("[a]: b", "a key must be a string"),
        ("a: [1", "not YAML"),
        ("a: 1\n...\nb: 2", "there is more than one document"),
        (deep.as_str(), "nested deeper than 32 levels"),
    ];
    for (yaml, reason) in cases {
        let error = read(yaml).unwrap_err();
        assert!(error.contains(reason), "{yaml}: {error}");
    }
    let open = translate_front_matter(&Source::from_label("file"), "---\na: b\n").unwrap_err();
    assert!(open.reason.contains("is not closed"), "{}", open.reason);
}

proptest! {
    fn check_translation_never_panics(yaml in "[-\\[\\]{}:,#&*!|>'\"%@`a0. \\n\\t\u{e4}]{0,200}") {
        // Every text is either translated to valid JSON or refused.
        if let Err(error) = read(&yaml) {
            REFUSED.fetch_add(1, Ordering::Relaxed);
            prop_assert!(!error.contains("not JSON"), "{error}");
        }
    }
}

/// Cases in which the text was refused.
static REFUSED: AtomicU32 = AtomicU32::new(0);

#[test]
fn translation_never_panics() {
    check_translation_never_panics();
    assert!(REFUSED.load(Ordering::Relaxed) > 0, "no text was refused");
}
