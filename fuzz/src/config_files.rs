//! Oracle of configuration files: the parser with its positions, entries, expansion, and the editor.
//!
//! Every position lies inside the text. Strict JSON has the value that `serde_json` reads, and a printed value
//! parses to itself. Expansion agrees with a character-by-character reference. An edit changes one member and
//! nothing else. A displayed entry holds no literal value of a variable or header.

use mcparley_config::json_editor::JsonEditor;
use mcparley_model::config::{RawServer, SecretVisibility};
use mcparley_model::document::{JsonDocument, Node};
use mcparley_model::expand::{Env, ExpansionKind, Template};
use mcparley_model::scope::{ConfigOrigin, Source, TextPosition};
use serde_json::{Value, json};

/// The shortest value that is searched for in the displayed entry: longer than the names of its fields.
const SECRET_CHARS: usize = 16;

/// Values that are not deeper are compared with `serde_json`, which refuses deeper ones.
const DEPTH: usize = 100;

/// Checks one file.
pub fn check_config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_expansion(text);
    let document = match JsonDocument::parse(Source::from_label("fuzz"), text) {
        Ok(document) => document,
        Err(error) => {
            check_position(text, error.place);
            assert!(
                serde_json::from_str::<Value>(text).is_err() || text.contains("\\u"),
                "{error}: {text:?}"
            );
            return;
        }
    };
    let Some(root) = document.root() else { return };
    check_positions(text, root);
    let value = root.to_json();
    check_value(text, &value);
    check_edits(text, &value);
    let servers = root.get("mcpServers").unwrap_or(root);
    for member in servers.as_object().into_iter().flatten() {
        check_origin(text, &member.origin());
        check_entry(text, member.name, member.value);
    }
}

/// The position is in the text, or right behind one of its lines. CR, LF and both together end a line.
fn check_position(text: &str, place: TextPosition) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let line = usize::try_from(place.line).ok().and_then(|line| line.checked_sub(1));
    let length = line.and_then(|line| text.split('\n').nth(line)).map(|line| line.chars().count());
    let column = usize::try_from(place.column).unwrap_or_default();
    assert!(length.is_some_and(|length| (1..=length + 2).contains(&column)), "{place:?} in {text:?}");
}

fn check_origin(text: &str, origin: &ConfigOrigin) {
    assert!(origin.place.is_some());
    origin.place.into_iter().for_each(|place| check_position(text, place));
}

fn check_positions(text: &str, node: Node<'_>) {
    check_origin(text, &node.origin());
    node.as_array().into_iter().flatten().for_each(|element| check_positions(text, element));
    for member in node.as_object().into_iter().flatten() {
        check_origin(text, &member.origin());
        check_positions(text, member.value);
    }
}

fn check_value(text: &str, value: &Value) {
    if depth(value) > DEPTH {
        return;
    }
    if let Ok(strict) = serde_json::from_str::<Value>(text) {
        assert_eq!(&strict, value, "{text:?}");
    }
    let printed = value.to_string();
    let again = JsonDocument::parse(Source::from_label("again"), &printed);
    let again = again.ok().and_then(|document| document.root().map(Node::to_json));
    assert_eq!(again.as_ref(), Some(value), "{printed}");
}

fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(elements) => elements.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    1 + deepest.unwrap_or_default()
}

/// Adds an entry and removes it again.
fn check_edits(text: &str, value: &Value) {
    const NAME: &str = "added by an edit";
    if depth(value) > DEPTH {
        return;
    }
    let Ok(editor) = JsonEditor::open(Source::from_label("fuzz"), Some(text)) else {
        assert!(!value.is_object(), "an object can be edited: {text:?}");
        return;
    };
    let entry = json!({"command": "x", "args": ["\u{1}\"\\", "é"]});
    if editor.set_member(&["mcpServers"], NAME, &entry).is_err() {
        assert!(value.get("mcpServers").is_some_and(|servers| !servers.is_object()), "{text:?}");
        return;
    }
    let mut expected = value.clone();
    expected["mcpServers"][NAME] = entry;
    let edited = editor.edited_text();
    assert_eq!(read_value(&edited), Some(expected.clone()), "{text:?} became {edited:?}");
    assert!(matches!(editor.remove_member(&["mcpServers"], NAME), Ok(true)), "{text:?}");
    if let Some(servers) = expected["mcpServers"].as_object_mut() {
        servers.remove(NAME);
    }
    let restored = editor.edited_text();
    assert_eq!(read_value(&restored), Some(expected), "{text:?} became {restored:?}");
}

fn read_value(text: &str) -> Option<Value> {
    JsonDocument::parse(Source::from_label("edited"), text).ok()?.root().map(Node::to_json)
}

fn check_entry(text: &str, name: &str, node: Node<'_>) {
    let raw = match RawServer::from_node(name, node) {
        Ok(raw) => raw,
        Err(error) => return check_origin(text, error.origin()),
    };
    raw.hints.iter().for_each(|hint| check_origin(text, &hint.origin));
    let displayed = raw.to_displayed(raw.kind, SecretVisibility::Masked);
    let displayed = serde_json::to_string(&displayed).unwrap_or_default();
    for (_, value) in raw.env.iter().chain(&raw.headers) {
        let is_once = text.matches(value.text.as_str()).count() == 1;
        let is_word = value.text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if value.text.len() >= SECRET_CHARS && is_word && is_once {
            assert!(!displayed.contains(&value.text), "{} is displayed: {displayed}", value.text);
        }
    }
    for template in raw.command.iter().chain(&raw.args).chain(&raw.url) {
        check_template(template);
    }
    if let Err(error) = raw.to_config(&environment(), &node.origin()) {
        check_origin(text, error.origin());
    }
}

fn check_expansion(text: &str) {
    check_template(&Template {
        text: text.to_owned(),
        origin: ConfigOrigin::for_source(Source::from_label("fuzz")),
    });
}

fn environment() -> Env {
    let variables = [("A", "alpha"), ("B", ""), ("C", "${A}"), ("L", "one\ntwo"), ("N", "\0")];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn check_template(template: &Template) {
    let env = environment();
    for kind in [ExpansionKind::OneLine, ExpansionKind::ManyLines] {
        let expanded = template.expand(&env, kind);
        assert_eq!(expanded.as_ref().ok(), expand_plainly(&template.text, &env, kind).as_ref());
        let mut more = env.clone();
        more.set("UNRELATED", "x");
        if !template.text.contains("UNRELATED") {
            assert_eq!(template.expand(&more, kind), expanded, "other variables change nothing");
        }
    }
}

/// The reference: what stands between `${` and the next `}` is replaced, once.
fn expand_plainly(text: &str, env: &Env, kind: ExpansionKind) -> Option<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut expanded = String::new();
    let mut at = 0;
    while let Some(character) = characters.get(at) {
        if *character != '$' || characters.get(at + 1) != Some(&'{') {
            expanded.push(*character);
            at += 1;
            continue;
        }
        let rest = characters.get(at + 2..)?;
        let inside: String = rest.iter().take_while(|character| **character != '}').collect();
        let length = inside.chars().count();
        // Without a closing brace there is no character behind the inside.
        rest.get(length)?;
        expanded.push_str(&value_of(&inside, env, kind)?);
        at += length + 3;
    }
    (expanded.len() <= mcparley_model::limits::EXPANDED_BYTES).then_some(expanded)
}

fn value_of(inside: &str, env: &Env, kind: ExpansionKind) -> Option<String> {
    let end = inside.find(":-");
    let name = inside.get(..end.unwrap_or(inside.len()))?;
    let default = end.and_then(|end| inside.get(end + 2..));
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if !is_name || default.is_some_and(|default| default.contains("${")) {
        return None;
    }
    let value = env.get(name).or(default)?;
    let breaks = kind == ExpansionKind::OneLine && value.contains(['\n', '\r']);
    (!breaks && !value.contains('\0')).then(|| value.to_owned())
}
