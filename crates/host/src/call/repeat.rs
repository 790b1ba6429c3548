//! Decides whether the texts of a result only repeat its structured value (R7).
//!
//! Servers are told to say their data as text too, for clients that read nothing else. Some write the JSON; others wrap
//! a text, a number or a list in an object with one member, because structured content has to be an object, and say what
//! is inside.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Whether a text, or all texts together, say the value that `structured` is or wraps.
pub(super) fn is_repeated(structured: &str, texts: &[&str]) -> bool {
    let structured = structured.trim();
    if texts.is_empty() {
        return false;
    }
    if texts.iter().any(|text| is_same(text.trim(), structured)) {
        return true;
    }
    let wrapped = wrapped(structured);
    let value = wrapped.map_or(structured, RawValue::get);
    wrapped.is_some_and(|inner| texts.iter().any(|text| says(text, inner.get()))) || say_list(texts, value)
}

/// What an object with one member holds.
fn wrapped(structured: &str) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Members<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);
    let Members(members) = structured.starts_with('{').then(|| serde_json::from_str(structured).ok())??;
    let mut values = members.into_values();
    values.next().filter(|_| values.len() == 0)
}

/// Whether a text is this value: its JSON, or what a string says.
fn says(text: &str, value: &str) -> bool {
    let string = if value.starts_with('"') { serde_json::from_str::<Cow<'_, str>>(value).ok() } else { None };
    string.is_some_and(|string| string.trim() == text.trim()) || is_same(text.trim(), value)
}

/// Whether the texts are the elements of a list, one each.
fn say_list(texts: &[&str], value: &str) -> bool {
    let elements =
        value.starts_with('[').then(|| serde_json::from_str::<Vec<&RawValue>>(value).ok()).flatten();
    elements.is_some_and(|elements| {
        elements.len() == texts.len()
            && texts.iter().zip(&elements).all(|(text, element)| says(text, element.get()))
    })
}

/// Whether two texts are the same JSON.
fn is_same(text: &str, json: &str) -> bool {
    // Reading both is spared where their first characters differ already: prose beside data.
    text == json
        || text.as_bytes().first() == json.as_bytes().first() && {
            let (one, other) = (serde_json::from_str::<Value>(text), serde_json::from_str::<Value>(json));
            matches!((one, other), (Ok(one), Ok(other)) if one == other)
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R1 R7
    #[test]
    fn text_repeats_a_value_that_is_bare_or_wrapped_in_one_member() {
        let table: [(&str, &[&str], bool); 18] = [
            (r#"{"a":1,"b":2}"#, &[r#"{ "b": 2, "a": 1 }"#], true),
            (r#"{"result":42}"#, &["42"], true),
            (r#"{"result":42}"#, &[" 42\n"], true),
            (r#"{"result":42}"#, &["43"], false),
            (r#"{"result":"42"}"#, &["42"], true),
            (r#"{"content":"line\nline\n"}"#, &["line\nline\n"], true),
            (r#"{"content":"line\nline\n"}"#, &["about a file", "line\nline"], true),
            (r#"{"content":"text","size":4}"#, &["text"], false),
            (r#"{"result":{"a":[1]}}"#, &[r#"{"a": [1]}"#], true),
            (r#"{"result":{"a":[1]}}"#, &["[1]"], false),
            (r#"{"result":["a","b"]}"#, &["a", "b"], true),
            (r#"{"result":["a","b"]}"#, &["b", "a"], false),
            (r#"{"result":["a","b"]}"#, &["a"], false),
            (r#"["a","b"]"#, &["a", "b"], true),
            (r#"{"result":null}"#, &["null"], true),
            (r#"{"result":true}"#, &["true"], true),
            (r#"{}"#, &["x"], false),
            (r#"{"a":1}"#, &[], false),
        ];
        for (structured, texts, expected) in table {
            assert_eq!(is_repeated(structured, texts), expected, "{structured} {texts:?}");
        }
    }
}
