//! Removes hidden characters from all strings of a JSON value, at any depth.

use std::borrow::Cow;

use serde_json::Value;

use super::{clean_text, hidden_count};

/// Removes hidden characters from all strings and keys of a JSON text for a model.
///
/// Returns the text borrowed, byte for byte, if there were none. A text that is not JSON, or nested too
/// deep to be parsed, is cleaned like plain text.
#[must_use]
pub fn clean_json(json: &str) -> Cow<'_, str> {
    if !may_hide_characters(json) {
        return Cow::Borrowed(json);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(json) else { return clean_text(json) };
    if clean_strings(&mut value) { Cow::Owned(value.to_string()) } else { Cow::Borrowed(json) }
}

/// Whether a string may contain a hidden character, literally or as an escape. Avoids parsing almost every
/// value.
pub(crate) fn may_hide_characters(json: &str) -> bool {
    // A carriage return between two values is not hidden text; parsing decides.
    hidden_count(json) > 0
        || json.as_bytes().windows(2).any(|pair| matches!(pair, [b'\\', b'u' | b'r' | b'b' | b'f']))
}

/// Removes hidden characters from all strings and keys; returns whether there were any.
pub fn clean_strings(value: &mut Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(string) => match clean_text(string) {
            Cow::Borrowed(_) => false,
            Cow::Owned(cleaned) => {
                *string = cleaned;
                true
            }
        },
        Value::Array(elements) => {
            elements.iter_mut().fold(false, |dirty, element| clean_strings(element) | dirty)
        }
        Value::Object(members) => {
            let dirty = members.values_mut().fold(false, |dirty, member| clean_strings(member) | dirty);
            let dirty_keys = members.keys().any(|name| matches!(clean_text(name), Cow::Owned(_)));
            if dirty_keys {
                let cleaned = std::mem::take(members).into_iter();
                members.extend(cleaned.map(|(name, value)| (clean_text(&name).into_owned(), value)));
            }
            dirty | dirty_keys
        }
    }
}

/// Whether arrays and objects are nested more than `limit` deep.
#[must_use]
pub fn is_deeper_than(limit: usize, json: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            return true;
        }
    }
    false
}
