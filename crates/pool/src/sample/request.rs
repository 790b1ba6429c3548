//! Parses a sampling request of a server, leniently and within limits.
//!
//! Texts are cleaned, because a model would follow hidden text that the user cannot see. The raw request is
//! kept too.

use mcparley_model::limits::{SAMPLE_BYTES, SAMPLE_MESSAGES, SAMPLE_TOOLS};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean_strings, clean_text};
use mcparley_model::tool::Tool;
use mcparley_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A sampling request of a server.
#[derive(Clone, Debug)]
pub struct SamplingRequest {
    /// The server that sent the request.
    pub server: ServerName,
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The system prompt. The sampler may change or omit it.
    pub system_prompt: Option<String>,
    /// The maximum number of tokens to generate.
    pub max_tokens: Option<u64>,
    /// The preferred kind of model. Advice only.
    pub preferences: ModelPreferences,
    /// The stop sequences.
    pub stop_sequences: Vec<String>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// The requested context of other servers: `none`, `thisServer` or `allServers`. Deprecated, and best
    /// ignored: it would disclose data of one server to another.
    pub include_context: Option<String>,
    /// The tools the model may select; empty unless [`super::Sampler::takes_tools`].
    pub tools: Vec<Tool>,
    /// Whether the model has to select a tool.
    pub tool_choice: ToolChoice,
    /// The unmodified request.
    pub raw: RawJson,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingMessage {
    /// The role.
    pub role: Role,
    /// The content.
    pub content: Vec<SamplingPart>,
}

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name of the role in the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A content part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingPart {
    /// Text, cleaned.
    Text(String),
    /// Any other MCP block with cleaned texts: `image`, `audio`, `tool_use` or `tool_result`, according to
    /// its `type`.
    Block(Value),
}

/// Model preferences; priorities are from 0 (unimportant) to 1.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Model names or parts of names, best first.
    pub hints: Vec<String>,
    /// The priority of low cost.
    pub cost: Option<f64>,
    /// The priority of speed.
    pub speed: Option<f64>,
    /// The priority of capability.
    pub intelligence: Option<f64>,
}

/// Whether the model has to select a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model has to select a tool.
    Required,
    /// The model must not select a tool.
    NoTool,
}

impl SamplingMessage {
    /// The text parts, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            SamplingPart::Text(text) => Some(text.as_str()),
            SamplingPart::Block(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// The parameters in the form of the protocol; optional members may have any type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SamplingParams {
    messages: Vec<Value>,
    #[serde(default)]
    system_prompt: Value,
    #[serde(default)]
    max_tokens: Value,
    #[serde(default)]
    model_preferences: Value,
    #[serde(default)]
    stop_sequences: Value,
    #[serde(default)]
    temperature: Value,
    #[serde(default)]
    include_context: Value,
    #[serde(default)]
    tool_choice: Value,
}

impl SamplingRequest {
    /// Parses a request; the error describes the problem.
    pub(super) fn parse(server: &ServerName, params: &RawJson) -> Result<Self, String> {
        if params.as_bytes().len() > SAMPLE_BYTES {
            return Err(format!("it is larger than {SAMPLE_BYTES} bytes"));
        }
        let wire: SamplingParams = params.decode().map_err(|_| "its parameters are malformed".to_owned())?;
        if wire.messages.is_empty() || wire.messages.len() > SAMPLE_MESSAGES {
            return Err(format!("it has no messages, or more than {SAMPLE_MESSAGES}"));
        }
        let messages = wire.messages.into_iter().map(parse_message).collect::<Option<Vec<_>>>();
        Ok(Self {
            server: server.clone(),
            messages: messages.ok_or("one of its messages has no `role` or no `content`")?,
            system_prompt: clean_string(&wire.system_prompt),
            max_tokens: wire.max_tokens.as_u64(),
            preferences: ModelPreferences::parse(&wire.model_preferences),
            stop_sequences: wire
                .stop_sequences
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(clean_string)
                .collect(),
            temperature: wire.temperature.as_f64(),
            include_context: clean_string(&wire.include_context),
            tools: parse_tools(params)?,
            tool_choice: ToolChoice::parse(&wire.tool_choice),
            raw: params.clone(),
        })
    }
}

fn clean_string(value: &Value) -> Option<String> {
    value.as_str().map(|text| clean_text(text).into_owned())
}

/// Parses one message; `None` without a valid role or content.
fn parse_message(mut message: Value) -> Option<SamplingMessage> {
    let role = match message.get("role")?.as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let content = match message.get_mut("content")?.take() {
        Value::Array(blocks) => blocks,
        block @ Value::Object(_) => vec![block],
        // Not valid in the protocol, but unambiguous.
        Value::String(text) => {
            return Some(SamplingMessage {
                role,
                content: vec![SamplingPart::Text(clean_text(&text).into_owned())],
            });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    Some(SamplingMessage { role, content: content.into_iter().map(SamplingPart::parse).collect() })
}

impl SamplingPart {
    fn parse(mut block: Value) -> Self {
        match (block.get("type").and_then(Value::as_str), block.get("text").and_then(Value::as_str)) {
            (Some("text"), Some(text)) => Self::Text(clean_text(text).into_owned()),
            (_, _) => {
                clean_strings(&mut block);
                Self::Block(block)
            }
        }
    }
}

impl ModelPreferences {
    fn parse(preferences: &Value) -> Self {
        let number = |name: &str| preferences.get(name).and_then(Value::as_f64);
        let hints = preferences.get("hints").and_then(Value::as_array).into_iter().flatten();
        Self {
            hints: hints.filter_map(|hint| clean_string(hint.get("name")?)).collect(),
            cost: number("costPriority"),
            speed: number("speedPriority"),
            intelligence: number("intelligencePriority"),
        }
    }
}

impl ToolChoice {
    fn parse(choice: &Value) -> Self {
        match choice.get("mode").and_then(Value::as_str) {
            Some("required") => Self::Required,
            Some("none") => Self::NoTool,
            Some(_) | None => Self::Auto,
        }
    }
}

/// Parses the tools of a request. An unusable tool is an error: without it the model would answer another
/// request.
fn parse_tools(params: &RawJson) -> Result<Vec<Tool>, String> {
    let tools = params.member_elements("tools").unwrap_or_default();
    if tools.len() > SAMPLE_TOOLS {
        return Err(format!("it includes more than {SAMPLE_TOOLS} tools"));
    }
    let read = |tool: &RawJson| {
        let raw = tool.as_raw_value().ok_or("one of its tools is damaged")?;
        Tool::parse(raw).map_err(|withheld| withheld.to_string())
    };
    tools.iter().map(read).collect()
}

/// Whether a request includes tools or a tool choice.
pub(super) fn includes_tools(params: &RawJson) -> bool {
    let members: Map<String, Value> = params.decode().unwrap_or_default();
    ["tools", "toolChoice"].iter().any(|name| members.get(*name).is_some_and(|value| !value.is_null()))
}

#[cfg(test)]
mod tests;
