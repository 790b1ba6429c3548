//! Envelope of a tool in a request: the JSON around the schema, for each API.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Dialect;
use super::rewrite::{RewrittenTool, ToolParameters};
use crate::entry::CatalogEntry;

/// A tool that is listed in a request.
pub(super) struct RequestTool<'e> {
    pub(super) name: String,
    pub(super) entry: &'e CatalogEntry,
    pub(super) rewritten: Arc<RewrittenTool>,
}

/// Writes the value of `tools` in a request.
pub(super) fn write_tools(dialect: Dialect, shown: &[RequestTool<'_>]) -> serde_json::Result<Box<RawValue>> {
    match dialect {
        Dialect::Anthropic => write_list(shown, AnthropicTool::from_tool),
        Dialect::OpenAi => write_list(shown, ResponsesTool::from_tool),
        Dialect::OpenAiChat => {
            write_list(shown, |shown| ChatTool { kind: FUNCTION, function: ChatFunction::from_tool(shown) })
        }
        // Gemini rejects a tool without functions.
        Dialect::Gemini if shown.is_empty() => to_raw_value(&[(); 0]),
        Dialect::Gemini => {
            let function_declarations = shown.iter().map(GeminiFunction::from_tool).collect();
            to_raw_value(&[GeminiTool { function_declarations }])
        }
    }
}

fn write_list<'s, T: Serialize>(
    shown: &'s [RequestTool<'s>],
    one: impl Fn(&'s RequestTool<'s>) -> T,
) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(&shown.iter().map(one).collect::<Vec<T>>())
}

impl RequestTool<'_> {
    fn schema(&self) -> Option<&RawValue> {
        match &self.rewritten.parameters {
            ToolParameters::Own => Some(&self.entry.tool.input_schema),
            ToolParameters::Other(schema) => Some(schema),
            ToolParameters::None => None,
        }
    }

    /// The description; the title or name if it is empty, for an API that requires one.
    fn description_or_name(&self) -> &str {
        let title = self.entry.tool.title.as_deref().filter(|title| !title.is_empty());
        match self.rewritten.description.as_str() {
            "" => title.unwrap_or(self.name.as_str()),
            description => description,
        }
    }
}

#[derive(Serialize)]
struct AnthropicTool<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'s str,
    input_schema: Option<&'s RawValue>,
}

impl<'s> AnthropicTool<'s> {
    fn from_tool(shown: &'s RequestTool<'s>) -> Self {
        Self { name: &shown.name, description: &shown.rewritten.description, input_schema: shown.schema() }
    }
}

const FUNCTION: &str = "function";

impl<'s> ResponsesTool<'s> {
    fn from_tool(shown: &'s RequestTool<'s>) -> Self {
        let ChatFunction { name, description, parameters, strict } = ChatFunction::from_tool(shown);
        Self { kind: FUNCTION, name, description, parameters, strict }
    }
}

/// A tool of the Responses API.
#[derive(Serialize)]
struct ResponsesTool<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'s str,
    parameters: Option<&'s RawValue>,
    strict: bool,
}

/// A tool of the Chat Completions API.
#[derive(Serialize)]
struct ChatTool<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: ChatFunction<'s>,
}

#[derive(Serialize)]
struct ChatFunction<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'s str,
    parameters: Option<&'s RawValue>,
    /// Always false: the Responses API defaults to strict, and few schemas of servers qualify.
    strict: bool,
}

impl<'s> ChatFunction<'s> {
    fn from_tool(shown: &'s RequestTool<'s>) -> Self {
        let description = &shown.rewritten.description;
        Self { name: &shown.name, description, parameters: shown.schema(), strict: false }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiTool<'s> {
    function_declarations: Vec<GeminiFunction<'s>>,
}

#[derive(Serialize)]
struct GeminiFunction<'s> {
    name: &'s str,
    description: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'s RawValue>,
}

impl<'s> GeminiFunction<'s> {
    fn from_tool(shown: &'s RequestTool<'s>) -> Self {
        Self { name: &shown.name, description: shown.description_or_name(), parameters: shown.schema() }
    }
}
