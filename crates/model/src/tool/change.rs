//! What has changed about a tool since somebody looked at it, in lines that a person can read (H09).
//!
//! The order of keys and the space between them mean nothing, and neither does when a tool wants to be loaded: a
//! definition has changed when a model is told something else, or may pass something else. The texts of both sides
//! are clean already; here they are put on one line each and cut.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{Digest, Tool};
use crate::limits::{CHANGE_LINE_CHARS, CHANGE_LINES};
use crate::text::{cut, display};

/// The difference between two definitions of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DefinitionChange {
    /// What it said it does before.
    #[serde(rename = "oldDescription")]
    pub old: String,
    /// What it says now.
    #[serde(rename = "newDescription")]
    pub new: String,
    /// Every difference, one line each: `-` before what was, `+` before what is.
    pub lines: Vec<String>,
    /// How many more lines there are.
    pub more: usize,
}

impl DefinitionChange {
    /// What is different about `new`; nothing if it is the same to whoever uses it.
    #[must_use]
    pub fn between(old: &Tool, new: &Tool) -> Option<Self> {
        let mut found = Lines::default();
        found.texts("title", old.title.as_deref().unwrap_or(""), new.title.as_deref().unwrap_or(""));
        found.texts("description", &old.description, &new.description);
        found.schemas("inputSchema", Some(&old.input_schema), Some(&new.input_schema));
        found.schemas("outputSchema", old.output_schema.as_deref(), new.output_schema.as_deref());
        let hints = |tool: &Tool| serde_json::to_value(tool.hints).unwrap_or_default();
        found.values("annotations", &hints(old), &hints(new));
        let (hint, other) = (old.search_hint.as_deref(), new.search_hint.as_deref());
        found.texts("searchHint", hint.unwrap_or(""), other.unwrap_or(""));
        let Lines { lines, more } = found;
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
    /// Identity of what a person would be shown of it; see [`DefinitionChange`] for what counts.
    #[must_use]
    pub fn definition(&self) -> Digest {
        let schema = |raw: &RawValue| sorted(serde_json::from_str(raw.get()).unwrap_or_default());
        let parts = serde_json::json!([
            self.name.as_str(),
            self.title.as_deref().unwrap_or(""),
            self.description,
            schema(&self.input_schema),
            self.output_schema.as_deref().map(schema),
            self.hints,
            self.search_hint.as_deref().unwrap_or(""),
        ]);
        Digest(Sha256::digest(parts.to_string()).into())
    }
}

/// The same with the keys of every object in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => Value::Array(elements.into_iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Lines that are being gathered.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    more: usize,
}

impl Lines {
    fn texts(&mut self, place: &str, old: &str, new: &str) {
        if old == new {
            return;
        }
        for (sign, text) in [('-', old), ('+', new)] {
            if !text.is_empty() {
                self.push(sign, place, text);
            }
        }
    }

    fn schemas(&mut self, place: &str, old: Option<&RawValue>, new: Option<&RawValue>) {
        let read = |raw: Option<&RawValue>| -> Option<Value> { serde_json::from_str(raw?.get()).ok() };
        match (read(old), read(new)) {
            (Some(old), Some(new)) => self.values(place, &old, &new),
            (Some(old), None) => self.push('-', place, &old.to_string()),
            (None, Some(new)) => self.push('+', place, &new.to_string()),
            (None, None) => {}
        }
    }

    fn values(&mut self, place: &str, old: &Value, new: &Value) {
        let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
            if sorted(old.clone()) != sorted(new.clone()) {
                self.push('-', place, &shown(old));
                self.push('+', place, &shown(new));
            }
            return;
        };
        for (name, value) in before {
            let below = format!("{place}.{name}");
            match after.get(name) {
                Some(other) => self.values(&below, value, other),
                None => self.push('-', &below, &shown(value)),
            }
        }
        for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
            self.push('+', &format!("{place}.{name}"), &shown(value));
        }
    }

    fn push(&mut self, sign: char, place: &str, text: &str) {
        if self.lines.len() == CHANGE_LINES {
            self.more += 1;
            return;
        }
        let line = format!("{sign} {place}: {text}");
        self.lines.push(cut(&display(&line), CHANGE_LINE_CHARS).into_owned());
    }
}

/// A string is itself; anything else is its JSON.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
