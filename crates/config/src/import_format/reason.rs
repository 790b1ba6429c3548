//! Import refusal: the reason why an entry cannot be imported, safe to display.

use serde_json::Value;

use mcparley_model::document::JsonKind;

/// The reason why an entry cannot be imported; it names fields, never values.
#[derive(Debug)]
pub(super) struct ImportRefusal(String);

impl ImportRefusal {
    /// A refusal with this text.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text on one line.
    pub(super) fn into_text(self) -> String {
        one_line(&self.0)
    }
}

/// The JSON type of `value`, for type errors.
pub(super) fn json_kind(value: &Value) -> JsonKind {
    match value {
        Value::Null => JsonKind::Null,
        Value::Bool(_) => JsonKind::Boolean,
        Value::Number(_) => JsonKind::Number,
        Value::String(_) => JsonKind::String,
        Value::Array(_) => JsonKind::Array,
        Value::Object(_) => JsonKind::Object,
    }
}

/// `text` without control characters.
///
/// Field names come from an untrusted file: a line break or an escape sequence must not reach a terminal.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
