//! What front matter means, and what it may not do.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::*;
use crate::document::Document;
use crate::limits::FRONT_MATTER_DEPTH;

fn read(yaml: &str) -> Result<serde_json::Value, String> {
    let source = Source::inline("file");
    let translation = translate(&source, &format!("---\n{yaml}\n---\ntext"))
        .map_err(|error| error.to_string())?
        .unwrap_or_default();
    let document = Document::translated(source, &translation).map_err(|error| error.to_string())?;
    Ok(document.root().map(crate::document::Node::to_json).unwrap_or_default())
}

#[test]
fn what_people_write_means_what_they_expect() {
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
fn values_stand_where_they_stand_in_the_file() {
    let source = Source::inline("file");
    let text = "---\nname: x\nservers:\n  ä: {command: [run]}\n---\n";
    let translation = translate(&source, text).unwrap().unwrap();
    let document = Document::translated(source, &translation).unwrap();
    let servers = document.root().unwrap().get("servers").unwrap();
    let member = servers.as_object().unwrap().next().unwrap();
    assert_eq!(member.origin().to_string(), "file:4:3");
    assert_eq!(member.value.get("command").unwrap().origin().to_string(), "file:4:16");
}

#[test]
fn a_text_without_a_fence_has_none() {
    let source = Source::inline("file");
    for text in ["", "# Title\n---\na: b\n---\n", "\n---\na: b\n---\n"] {
        assert!(translate(&source, text).unwrap().is_none(), "{text:?}");
    }
    for text in ["---\n---\n", "\u{feff}---\r\na: b\r\n---\r\n", "---  \na: b\n---"] {
        assert!(translate(&source, text).unwrap().is_some(), "{text:?}");
    }
}

#[test]
fn what_is_refused_is_told_with_its_place() {
    let deep = format!("a: {}", "[".repeat(FRONT_MATTER_DEPTH + 1));
    let cases = [
        ("a: &x [1]\nb: *x", "file:3:4: aliases are not read"),
        ("a: !!str 5", "file:2:4: tags are not read"),
        ("a: !secret {}", "file:2:4: tags are not read"),
        ("[a]: b", "a name must be a text"),
        ("a: [1", "not YAML"),
        ("a: 1\n...\nb: 2", "there is more than one document"),
        (deep.as_str(), "nested deeper than 32 levels"),
    ];
    for (yaml, reason) in cases {
        let error = read(yaml).unwrap_err();
        assert!(error.contains(reason), "{yaml}: {error}");
    }
    let open = translate(&Source::inline("file"), "---\na: b\n").unwrap_err();
    assert!(open.reason.contains("no end"), "{}", open.reason);
}

proptest! {
    fn check_no_text_makes_it_panic(yaml in "[-\\[\\]{}:,#&*!|>'\"%@`a0. \\n\\t\u{e4}]{0,200}") {
        // Whatever becomes of it: what is made of it is JSON, or the text is refused as what it is.
        if let Err(error) = read(&yaml) {
            REFUSED.fetch_add(1, Ordering::Relaxed);
            prop_assert!(!error.contains("not JSON"), "{error}");
        }
    }
}

/// How many cases came that far.
static REFUSED: AtomicU32 = AtomicU32::new(0);

#[test]
fn no_text_makes_it_panic() {
    check_no_text_makes_it_panic();
    assert!(REFUSED.load(Ordering::Relaxed) > 0, "no text was refused");
}
