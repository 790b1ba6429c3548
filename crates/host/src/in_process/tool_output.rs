//! The result of an in-process tool: text, or JSON that programs read too.

use serde_json::{Value, json};

/// The result of an in-process tool, created from text or from JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    text: String,
    structured: Option<Value>,
}

impl ToolOutput {
    /// The result of `tools/call`, with `isError` if the tool has failed.
    pub(super) fn into_result(result: Result<Self, String>) -> Value {
        let is_error = result.is_err();
        let Self { text, structured } = result.unwrap_or_else(Self::from);
        let mut answer = json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] });
        if let Some(structured) = structured {
            answer["structuredContent"] = structured;
        }
        if is_error {
            answer["isError"] = json!(true);
        }
        answer
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, structured: None }
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Value> for ToolOutput {
    /// An object becomes `structuredContent`, and text beside it for clients that read only text. Other JSON
    /// becomes text.
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => text.into(),
            Value::Object(_) => Self { text: value.to_string(), structured: Some(value) },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string().into(),
        }
    }
}
