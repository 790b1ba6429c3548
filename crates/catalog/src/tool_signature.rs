//! Signature of a tool in one line: its name with the names and types of its arguments.
//!
//! For people that compare tools by their arguments, and for models that choose among found tools; a model that
//! calls a tool gets the whole schema. All of it is untrusted text of a server, so hidden characters become
//! escapes, and long or recursive schemas are cut.

use mcparley_model::text::{display_line, truncate_text};
use mcparley_model::tool::Tool;
use serde_json::{Map, Value};

/// The maximum number of arguments in a signature.
const ARGUMENTS: usize = 24;

/// The maximum number of characters of one name or value.
const WORD_CHARS: usize = 64;

/// The maximum number of alternatives of one type.
const ALTERNATIVES: usize = 4;

/// The maximum number of characters of listed values; longer lists are shown by their type.
const VALUES_CHARS: usize = 48;

/// The maximum depth of references, alternatives and arrays inside each other.
const DEPTH: usize = 6;

/// The signature of a tool, such as `git_commit(repo_path: string, message: string, amend?: boolean)`. An
/// optional argument has a question mark.
#[must_use]
pub fn tool_signature(tool: &Tool) -> String {
    format!("{}{}", display_word(tool.name.as_str()), argument_signature(tool))
}

/// The arguments of a tool as in its signature, such as `(repo_path: string, amend?: boolean)`.
#[must_use]
pub fn argument_signature(tool: &Tool) -> String {
    let schema = serde_json::from_str(tool.input_schema.get()).unwrap_or(Value::Null);
    format!("({})", signature_arguments(&schema).join(", "))
}

/// The arguments of a schema, each as `name: type`, in the order of the schema.
fn signature_arguments(root: &Value) -> Vec<String> {
    let parts = object_parts(root);
    let is_required = |name: &str| {
        let mut lists = parts.iter().filter_map(|part| part.get("required")?.as_array());
        lists.any(|list| list.iter().any(|required| required == name))
    };
    let properties = parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten();
    let mut seen: Vec<&str> = Vec::new();
    let mut arguments = Vec::new();
    for (name, schema) in properties {
        if seen.contains(&name.as_str()) {
            continue;
        }
        if seen.len() == ARGUMENTS {
            arguments.push("…".to_owned());
            break;
        }
        seen.push(name);
        let mark = if is_required(name) { "" } else { "?" };
        arguments.push(format!("{}{mark}: {}", display_word(name), type_phrase(schema, root, DEPTH)));
    }
    arguments
}

/// The schema of an object together with those that it refers to or combines by `allOf`.
fn object_parts(root: &Value) -> Vec<&Map<String, Value>> {
    let mut parts: Vec<&Map<String, Value>> = Vec::new();
    let mut waiting = vec![root];
    while let Some(schema) = waiting.pop() {
        let Some(part) = schema.as_object() else { continue };
        if parts.len() == ARGUMENTS || parts.iter().any(|known| std::ptr::eq(*known, part)) {
            continue;
        }
        parts.push(part);
        waiting.extend(part.get("allOf").and_then(Value::as_array).into_iter().flatten().rev());
        waiting.extend(part.get("$ref").and_then(|target| resolve_reference(target, root)));
    }
    parts
}

/// The type of a value, such as `string`, `integer[]` or `"red" | "green"`.
fn type_phrase(schema: &Value, root: &Value, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "any".to_owned() };
    let Some(object) = schema.as_object() else { return "any".to_owned() };
    if let Some(target) = object.get("$ref").and_then(|target| resolve_reference(target, root)) {
        return type_phrase(target, root, depth);
    }
    if let Some(values) = listed_values(object) {
        return values;
    }
    match object.get("type") {
        Some(Value::String(name)) => named_type(name, object, root, depth),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            join_alternatives(names.map(|name| named_type(name, object, root, depth)))
        }
        _ => untyped_phrase(object, root, depth),
    }
}

/// The type of a schema without the keyword `type`: its alternatives, or the type that its keywords imply.
fn untyped_phrase(object: &Map<String, Value>, root: &Value, depth: usize) -> String {
    let of_alternatives = |keyword: &str| object.get(keyword).and_then(Value::as_array);
    if let Some(alternatives) = of_alternatives("anyOf").or_else(|| of_alternatives("oneOf")) {
        return join_alternatives(alternatives.iter().map(|schema| type_phrase(schema, root, depth)));
    }
    if let Some(parts) = of_alternatives("allOf") {
        let mut phrases = parts.iter().take(ALTERNATIVES).map(|schema| type_phrase(schema, root, depth));
        return phrases.find(|phrase| phrase != "any").unwrap_or_else(|| "any".to_owned());
    }
    let implied = [("properties", "object"), ("items", "array"), ("pattern", "string")];
    let name = implied.into_iter().find(|(keyword, _)| object.contains_key(*keyword));
    match (name, object.get("enum").or_else(|| object.get("const"))) {
        (Some((_, name)), _) => named_type(name, object, root, depth),
        (None, Some(values)) => value_type(values.as_array().and_then(|list| list.first()).unwrap_or(values)),
        (None, None) => "any".to_owned(),
    }
}

fn named_type(name: &str, object: &Map<String, Value>, root: &Value, depth: usize) -> String {
    if name != "array" {
        return display_word(name);
    }
    match object.get("items") {
        Some(items) => match type_phrase(items, root, depth) {
            phrase if phrase.contains(' ') => format!("({phrase})[]"),
            phrase => format!("{phrase}[]"),
        },
        None => "any[]".to_owned(),
    }
}

/// The values that `enum` or `const` lists, if they are few and short.
fn listed_values(object: &Map<String, Value>) -> Option<String> {
    let values = match (object.get("enum"), object.get("const")) {
        (Some(Value::Array(values)), _) => values.as_slice(),
        (_, Some(value)) => std::slice::from_ref(value),
        _ => return None,
    };
    let is_short = !values.is_empty() && values.len() <= ALTERNATIVES;
    let is_plain = values.iter().all(|value| !value.is_array() && !value.is_object());
    let phrase = if is_short && is_plain {
        join_alternatives(values.iter().map(|value| display_word(&value.to_string())))
    } else {
        return None;
    };
    (phrase.chars().count() <= VALUES_CHARS).then_some(phrase)
}

/// The alternatives of a type, each once.
fn join_alternatives(phrases: impl Iterator<Item = String>) -> String {
    let mut alternatives: Vec<String> = Vec::new();
    for phrase in phrases {
        if alternatives.contains(&phrase) {
            continue;
        }
        if alternatives.len() == ALTERNATIVES {
            alternatives.push("…".to_owned());
            break;
        }
        alternatives.push(phrase);
    }
    if alternatives.is_empty() { "any".to_owned() } else { alternatives.join(" | ") }
}

fn value_type(value: &Value) -> String {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "any[]",
        Value::Object(_) => "object",
    };
    name.to_owned()
}

/// Resolves a reference inside of the schema. References to other documents are never followed.
fn resolve_reference<'s>(target: &Value, root: &'s Value) -> Option<&'s Value> {
    root.pointer(target.as_str()?.strip_prefix('#')?)
}

/// A name or value of the server for one line of a terminal.
fn display_word(word: &str) -> String {
    display_line(&truncate_text(word, WORD_CHARS)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::RawValue;

    fn signature(schema: &Value) -> String {
        let entry = json!({ "name": "tool", "inputSchema": schema }).to_string();
        tool_signature(&Tool::parse(&RawValue::from_string(entry).unwrap()).unwrap())
    }

    fn signature_of_type(schema: &Value) -> String {
        let whole = signature(&json!({ "type": "object", "properties": { "a": schema }, "required": ["a"] }));
        whole.trim_start_matches("tool(a: ").trim_end_matches(')').to_owned()
    }

    // U4 U1
    #[test]
    fn signature_names_each_argument_with_its_type_in_the_order_of_the_schema() {
        let schema = json!({
            "type": "object", "required": ["repo_path", "message"],
            "properties": {
                "repo_path": { "type": "string" }, "message": { "type": "string" },
                "amend": { "type": "boolean" },
            },
        });
        assert_eq!(signature(&schema), "tool(repo_path: string, message: string, amend?: boolean)");
        assert_eq!(signature(&json!({ "type": "object" })), "tool()");
    }

    // U4 U1
    #[test]
    fn types_are_written_the_way_people_write_them() {
        let rows = [
            (json!({ "type": "integer" }), "integer"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "type": "array", "items": { "type": "number" } }), "number[]"),
            (json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string | null)[]"),
            (json!({ "type": "array" }), "any[]"),
            (json!({ "enum": ["red", "green"] }), r#""red" | "green""#),
            (json!({ "type": "string", "enum": ["a", "b", "c", "d", "e"] }), "string"),
            (json!({ "enum": ["a", "b", "c", "d", "e"] }), "string"),
            (json!({ "const": 7 }), "7"),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), "string | null"),
            (json!({ "allOf": [{ "title": "x" }, { "type": "string" }] }), "string"),
            (json!({ "properties": {} }), "object"),
            (json!(true), "any"),
            (json!({}), "any"),
        ];
        for (schema, phrase) in rows {
            assert_eq!(signature_of_type(&schema), phrase, "{schema}");
        }
    }

    // U4
    #[test]
    fn references_are_followed_and_recursion_ends() {
        let schema = json!({
            "type": "object", "required": ["kind", "tree"],
            "properties": { "kind": { "$ref": "#/$defs/Kind" }, "tree": { "$ref": "#/$defs/Tree" } },
            "$defs": {
                "Kind": { "type": "string" },
                "Tree": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
            },
        });
        let signature = signature(&schema);
        assert!(signature.starts_with("tool(kind: string, tree: any["), "{signature}");
        assert!(signature.len() < 60, "{signature}");
    }

    // U4
    #[test]
    fn signature_of_a_hostile_schema_is_one_short_line() {
        let properties: Map<String, Value> =
            (0..1_000).map(|index| (format!("a\n{index}"), json!({ "type": "string" }))).collect();
        let signature = signature(&json!({ "type": "object", "properties": properties }));
        assert!(signature.starts_with(r"tool(a\n0?: string, "), "{signature}");
        assert!(signature.ends_with(", …)"), "{signature}");
        assert!(!signature.contains(char::is_control), "{signature}");
    }
}
