//! Checks requests to model APIs: against the documented schema of the request, and against the rules on the
//! order of messages that no schema can say.
//!
//! The schemas are data in `model_check/schemas`. They describe what the APIs document, and reject all other
//! members, because a real API rejects a whole request for one of them.

mod anthropic;
mod gemini;
mod open_ai;
#[cfg(test)]
mod tests;

use serde_json::Value;

/// A model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions.
    OpenAiChat,
    /// Gemini's `generateContent`.
    Gemini,
}

impl ModelApi {
    /// The API that has this path.
    pub fn from_path(path: &str) -> Option<Self> {
        match path {
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/chat/completions" | "/chat/completions" => Some(Self::OpenAiChat),
            _ if path.starts_with("/v1beta/models/") => Some(Self::Gemini),
            _ => None,
        }
    }

    fn schema_text(self) -> &'static str {
        match self {
            Self::Anthropic => include_str!("model_check/schemas/anthropic-messages.json"),
            Self::OpenAiChat => include_str!("model_check/schemas/openai-chat.json"),
            Self::Gemini => include_str!("model_check/schemas/gemini-generate.json"),
        }
    }
}

/// The problems of a request with its schema; none if it is valid.
///
/// # Panics
///
/// If the schema of the API is broken.
#[expect(clippy::expect_used, reason = "a broken schema is an error of this crate")]
pub fn schema_problems(api: ModelApi, request: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(api.schema_text()).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is valid");
    let describe = |error: jsonschema::ValidationError<'_>| {
        let text: String = error.to_string().chars().take(300).collect();
        format!("{}: {text}", error.instance_path())
    };
    validator.iter_errors(request).map(describe).collect()
}

/// The problems with the order of messages: calls without results, results without calls and the like.
pub fn order_problems(api: ModelApi, request: &Value) -> Vec<String> {
    match api {
        ModelApi::Anthropic => anthropic::order_problems(request),
        ModelApi::OpenAiChat => open_ai::order_problems(request),
        ModelApi::Gemini => gemini::order_problems(request),
    }
}

/// The elements of a list member; none if it is missing.
fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The string members of that name.
fn strings<'v>(values: impl Iterator<Item = &'v Value>, name: &str) -> Vec<&'v str> {
    values.filter_map(|value| value.get(name)?.as_str()).collect()
}

/// A problem for each name that occurs twice.
fn duplicate_problems(what: &str, names: &[&str]) -> Vec<String> {
    let is_repeated = |(place, name): &(usize, &&str)| names[..*place].contains(*name);
    let repeated = names.iter().enumerate().filter(is_repeated);
    repeated.map(|(_, name)| format!("{what} `{name}` occurs twice")).collect()
}
