//! Why an entry cannot be taken, in words that are safe to show.

use serde_json::Value;

use crate::document::Kind;

/// Why an entry cannot be taken; names fields, never values.
#[derive(Debug)]
pub(super) struct Reason(String);

impl Reason {
    /// A reason in words.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The words, fit for one line.
    pub(super) fn into_text(self) -> String {
        one_line(&self.0)
    }
}

/// The kind of `value`, for saying what a field is instead of what it should be.
pub(super) fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(_) => Kind::Number,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}

/// `text` without control characters.
///
/// Names of fields come from a stranger's file: one with a line break or an escape must not reach a terminal.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
