//! Compares two definitions of a tool and lists the changes for a review by the user.
//!
//! The order of keys, white space and loading hints make no difference: a definition has changed when a
//! model sees another text, or may pass other arguments. The texts of both sides are clean already; here
//! each is put on one line and truncated.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{Tool, ToolDigest};
use crate::limits::{CHANGE_LINE_CHARS, CHANGE_LINES};
use crate::text::{display_line, truncate_text};

/// The difference between two definitions of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DefinitionChange {
    /// The old description.
    #[serde(rename = "oldDescription")]
    pub old: String,
    /// The new description.
    #[serde(rename = "newDescription")]
    pub new: String,
    /// The differences, one line each: `-` before the old value, `+` before the new one.
    pub lines: Vec<String>,
    /// The number of further lines that were omitted.
    pub more: usize,
}

impl DefinitionChange {
    /// Compares two definitions; `None` if they are equivalent.
    #[must_use]
    pub fn between(old: &Tool, new: &Tool) -> Option<Self> {
        let mut found = ChangeLines::default();
        found.compare_texts("title", old.title.as_deref().unwrap_or(""), new.title.as_deref().unwrap_or(""));
        found.compare_texts("description", &old.description, &new.description);
        found.compare_schemas("inputSchema", Some(&old.input_schema), Some(&new.input_schema));
        found.compare_schemas("outputSchema", old.output_schema.as_deref(), new.output_schema.as_deref());
        let hints = |tool: &Tool| serde_json::to_value(tool.hints).unwrap_or_default();
        found.compare_values("annotations", &hints(old), &hints(new));
        let (hint, other) = (old.search_hint.as_deref(), new.search_hint.as_deref());
        found.compare_texts("searchHint", hint.unwrap_or(""), other.unwrap_or(""));
        let ChangeLines { lines, more } = found;
        (!lines.is_empty()).then(|| Self {
            old: old.description.to_string(),
            new: new.description.to_string(),
            lines,
            more,
        })
    }
}

impl fmt::Display for DefinitionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))?;
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl Tool {
    /// The digest of the definition shown to the user; see [`DefinitionChange`] for the compared fields.
    #[must_use]
    pub fn definition_digest(&self) -> ToolDigest {
        let schema = |raw: &RawValue| sort_keys(serde_json::from_str(raw.get()).unwrap_or_default());
        let parts = serde_json::json!([
            self.name.as_str(),
            self.title.as_deref().unwrap_or(""),
            self.description,
            schema(&self.input_schema),
            self.output_schema.as_deref().map(schema),
            self.hints,
            self.search_hint.as_deref().unwrap_or(""),
        ]);
        ToolDigest(Sha256::digest(parts.to_string()).into())
    }
}

/// Sorts the keys of every object in a value.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.into_iter().map(|(name, value)| (name, sort_keys(value))).collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => Value::Array(elements.into_iter().map(sort_keys).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The collected lines of a change.
#[derive(Default)]
struct ChangeLines {
    lines: Vec<String>,
    more: usize,
}

impl ChangeLines {
    fn compare_texts(&mut self, place: &str, old: &str, new: &str) {
        if old == new {
            return;
        }
        for (sign, text) in [('-', old), ('+', new)] {
            if !text.is_empty() {
                self.push_line(sign, place, text);
            }
        }
    }

    fn compare_schemas(&mut self, place: &str, old: Option<&RawValue>, new: Option<&RawValue>) {
        let read = |raw: Option<&RawValue>| -> Option<Value> { serde_json::from_str(raw?.get()).ok() };
        match (read(old), read(new)) {
            (Some(old), Some(new)) => self.compare_values(place, &old, &new),
            (Some(old), None) => self.push_line('-', place, &old.to_string()),
            (None, Some(new)) => self.push_line('+', place, &new.to_string()),
            (None, None) => {}
        }
    }

    fn compare_values(&mut self, place: &str, old: &Value, new: &Value) {
        let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
            if sort_keys(old.clone()) != sort_keys(new.clone()) {
                self.push_line('-', place, &value_text(old));
                self.push_line('+', place, &value_text(new));
            }
            return;
        };
        for (name, value) in before {
            let below = format!("{place}.{name}");
            match after.get(name) {
                Some(other) => self.compare_values(&below, value, other),
                None => self.push_line('-', &below, &value_text(value)),
            }
        }
        for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            self.push_line('+', &format!("{place}.{name}"), &value_text(value));
        }
    }

    fn push_line(&mut self, sign: char, place: &str, text: &str) {
        if self.lines.len() == CHANGE_LINES {
            self.more += 1;
            return;
        }
        let line = format!("{sign} {place}: {text}");
        self.lines.push(truncate_text(&display_line(&line), CHANGE_LINE_CHARS).into_owned());
    }
}

/// A value as text: a string is itself, any other value is its JSON.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
