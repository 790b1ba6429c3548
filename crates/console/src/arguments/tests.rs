//! Words, and the arguments they make.

mod files;
mod flags;
mod help;
mod keys;
mod kinds;
mod refused;

use serde_json::{Value, json};

use mcparley::model::explain::Explain as _;

use super::{CommandOption, ParsedWords, TextInput, ToolArgumentError, parse_words};

const LIMIT: u64 = 1000;

/// A tool with one argument of every kind.
fn tool() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "force": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "where": {"type": "object", "properties": {
                "path": {"type": "string"}, "maxDepth": {"type": "integer"},
                "deep": {"type": "object", "properties": {"er": {"type": "boolean"}}},
            }},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "anything": {},
            "filePath": {"type": "string"},
            "dry_run": {"type": "boolean"},
        },
        "required": ["message"],
    })
}

fn own() -> Vec<CommandOption> {
    let own = |name: &str, takes_value| CommandOption { name: name.to_owned(), takes_value };
    vec![own("json", false), own("timeout", true)]
}

fn typed_in(schema: &Value, words: &[&str], stdin: &str) -> Result<ParsedWords, ToolArgumentError> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut stdin = stdin.as_bytes();
    parse_words(schema, &words, &own(), &mut TextInput::new(&mut stdin, LIMIT))
}

fn typed(words: &[&str]) -> ParsedWords {
    typed_in(&tool(), words, "").unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

/// The arguments that the words make, order included.
fn arguments(words: &[&str]) -> String {
    Value::Object(typed(words).arguments).to_string()
}

fn arguments_in(schema: &Value, words: &[&str]) -> String {
    let typed = typed_in(schema, words, "").unwrap_or_else(|error| panic!("{words:?}: {error}"));
    Value::Object(typed.arguments).to_string()
}

/// The error about words that make no sense: its kind, the message, the hint.
fn refusal_in(schema: &Value, words: &[&str]) -> (&'static str, String, String) {
    let error = typed_in(schema, words, "").map(|typed| panic!("{words:?} made {typed:?}")).unwrap_err();
    let kind = if error.is_file_error() { "file" } else { "usage" };
    (kind, error.to_string(), error.hint().unwrap_or_default())
}

fn refusal(words: &[&str]) -> (&'static str, String, String) {
    refusal_in(&tool(), words)
}
