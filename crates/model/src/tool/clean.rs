//! Cleans every string of a JSON value, however deep (N7, B43).

use std::borrow::Cow;

use serde_json::Value;

use crate::text;

/// Removes hidden characters from all strings and keys; tells whether there were any.
pub(super) fn strings(value: &mut Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(string) => match text::clean(string) {
            Cow::Borrowed(_) => false,
            Cow::Owned(cleaned) => {
                *string = cleaned;
                true
            }
        },
        Value::Array(elements) => elements.iter_mut().fold(false, |dirty, element| strings(element) | dirty),
        Value::Object(members) => {
            let dirty = members.values_mut().fold(false, |dirty, member| strings(member) | dirty);
            let dirty_keys = members.keys().any(|name| matches!(text::clean(name), Cow::Owned(_)));
            if dirty_keys {
                let cleaned = std::mem::take(members).into_iter();
                members.extend(cleaned.map(|(name, value)| (text::clean(&name).into_owned(), value)));
            }
            dirty | dirty_keys
        }
    }
}
