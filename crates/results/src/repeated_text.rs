//! Detects text blocks that only repeat the structured content of a result, so that it is not counted twice.
//!
//! The protocol asks servers to repeat structured content as text, for clients that read only text. Some
//! servers write the JSON. Others wrap a string, a number or a list in an object with one member, because
//! structured content has to be an object, and write the inner value as text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Whether one text, or all texts together, repeat the value that `structured` is or wraps.
pub(super) fn is_repeated(structured: &str, texts: &[&str]) -> bool {
    let structured = structured.trim();
    if texts.is_empty() {
        return false;
    }
    if texts.iter().any(|text| is_same_json(text.trim(), structured)) {
        return true;
    }
    let wrapped = unwrap_single_member(structured);
    let value = wrapped.map_or(structured, RawValue::get);
    wrapped.is_some_and(|inner| texts.iter().any(|text| is_text_of_value(text, inner.get())))
        || are_texts_of_list(texts, value)
}

/// The value of the only member of an object.
fn unwrap_single_member(structured: &str) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct ObjectMembers<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);
    let ObjectMembers(members) =
        structured.starts_with('{').then(|| serde_json::from_str(structured).ok())??;
    let mut values = members.into_values();
    values.next().filter(|_| values.len() == 0)
}

/// Whether a text is this value: its JSON, or the content of a string.
fn is_text_of_value(text: &str, value: &str) -> bool {
    let string = if value.starts_with('"') { serde_json::from_str::<Cow<'_, str>>(value).ok() } else { None };
    string.is_some_and(|string| string.trim() == text.trim()) || is_same_json(text.trim(), value)
}

/// Whether the texts are the elements of a list, one text per element.
fn are_texts_of_list(texts: &[&str], value: &str) -> bool {
    let elements =
        value.starts_with('[').then(|| serde_json::from_str::<Vec<&RawValue>>(value).ok()).flatten();
    elements.is_some_and(|elements| {
        elements.len() == texts.len()
            && texts.iter().zip(&elements).all(|(text, element)| is_text_of_value(text, element.get()))
    })
}

/// Whether two texts are equal as JSON.
fn is_same_json(text: &str, json: &str) -> bool {
    // Different first characters, such as prose beside data, save parsing both.
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
