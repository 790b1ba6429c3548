//! Reads what a server asks a model: leniently, and within limits.
//!
//! Texts are cleaned, because people look at them and models obey what people do not see. What came is kept beside.

use mcparley_model::limits::{SAMPLE_BYTES, SAMPLE_MESSAGES, SAMPLE_TOOLS};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean, clean_strings};
use mcparley_model::tool::Tool;
use mcparley_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a server asks a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sampling {
    /// Who asks.
    pub server: ServerName,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What stands before it. It may be changed or left out.
    pub system_prompt: Option<String>,
    /// How much the model may write at most.
    pub max_tokens: Option<u64>,
    /// What the model should be like. Advice only.
    pub preferences: Preferences,
    /// Where the model should stop.
    pub stop_sequences: Vec<String>,
    /// How freely it should write.
    pub temperature: Option<f64>,
    /// Whether it wants what other servers have said to be told too: `none`, `thisServer` or `allServers`. Deprecated,
    /// and best not obeyed: it would tell one server of another.
    pub include_context: Option<String>,
    /// The tools the model may want; none unless [`super::Sampler::takes_tools`].
    pub tools: Vec<Tool>,
    /// Whether it has to want one.
    pub tool_choice: ToolChoice,
    /// All of it as it came, uncleaned.
    pub raw: RawJson,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Part>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text, cleaned.
    Text(String),
    /// Everything else as MCP has it, its texts cleaned: `image`, `audio`, `tool_use`, `tool_result`. Its `type` says
    /// which.
    Block(Value),
}

/// What a model should be like: from 0, unimportant, to 1.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Preferences {
    /// Names of models, or parts of such, the best first.
    pub hints: Vec<String>,
    /// How important it is that it is cheap.
    pub cost: Option<f64>,
    /// How important it is that it is fast.
    pub speed: Option<f64>,
    /// How important it is that it is able.
    pub intelligence: Option<f64>,
}

/// Whether a model has to want a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It has to.
    Required,
    /// It must not.
    Nothing,
}

impl Message {
    /// Its texts, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Block(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// As the protocol has it; what can be done without may be of any kind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
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

impl Sampling {
    /// Reads a question; the error says what is wrong with it.
    pub(super) fn read(server: &ServerName, params: &RawJson) -> Result<Self, String> {
        if params.as_bytes().len() > SAMPLE_BYTES {
            return Err(format!("it is larger than {SAMPLE_BYTES} bytes"));
        }
        let wire: Wire = params.decode().map_err(|_| "its parameters are of another form".to_owned())?;
        if wire.messages.is_empty() || wire.messages.len() > SAMPLE_MESSAGES {
            return Err(format!("it has no messages, or more than {SAMPLE_MESSAGES}"));
        }
        let messages = wire.messages.into_iter().map(message).collect::<Option<Vec<_>>>();
        Ok(Self {
            server: server.clone(),
            messages: messages.ok_or("one of its messages has no `role` or no `content`")?,
            system_prompt: text(&wire.system_prompt),
            max_tokens: wire.max_tokens.as_u64(),
            preferences: Preferences::read(&wire.model_preferences),
            stop_sequences: wire.stop_sequences.as_array().into_iter().flatten().filter_map(text).collect(),
            temperature: wire.temperature.as_f64(),
            include_context: text(&wire.include_context),
            tools: tools(params)?,
            tool_choice: ToolChoice::read(&wire.tool_choice),
            raw: params.clone(),
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(|text| clean(text).into_owned())
}

fn message(mut message: Value) -> Option<Message> {
    let role = match message.get("role")?.as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let content = match message.get_mut("content")?.take() {
        Value::Array(blocks) => blocks,
        block @ Value::Object(_) => vec![block],
        // Against the protocol, and clear enough.
        Value::String(text) => {
            return Some(Message { role, content: vec![Part::Text(clean(&text).into_owned())] });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    Some(Message { role, content: content.into_iter().map(Part::read).collect() })
}

impl Part {
    fn read(mut block: Value) -> Self {
        match (block.get("type").and_then(Value::as_str), block.get("text").and_then(Value::as_str)) {
            (Some("text"), Some(text)) => Self::Text(clean(text).into_owned()),
            (_, _) => {
                clean_strings(&mut block);
                Self::Block(block)
            }
        }
    }
}

impl Preferences {
    fn read(preferences: &Value) -> Self {
        let number = |name: &str| preferences.get(name).and_then(Value::as_f64);
        let hints = preferences.get("hints").and_then(Value::as_array).into_iter().flatten();
        Self {
            hints: hints.filter_map(|hint| text(hint.get("name")?)).collect(),
            cost: number("costPriority"),
            speed: number("speedPriority"),
            intelligence: number("intelligencePriority"),
        }
    }
}

impl ToolChoice {
    fn read(choice: &Value) -> Self {
        match choice.get("mode").and_then(Value::as_str) {
            Some("required") => Self::Required,
            Some("none") => Self::Nothing,
            Some(_) | None => Self::Auto,
        }
    }
}

/// Tools that a model could not use make the question another one than the server asks.
fn tools(params: &RawJson) -> Result<Vec<Tool>, String> {
    let tools = params.elements("tools").unwrap_or_default();
    if tools.len() > SAMPLE_TOOLS {
        return Err(format!("it brings more than {SAMPLE_TOOLS} tools"));
    }
    let read = |tool: &RawJson| {
        let raw = tool.as_raw_value().ok_or("one of its tools is damaged")?;
        Tool::read(raw).map_err(|withheld| withheld.to_string())
    };
    tools.iter().map(read).collect()
}

/// Whether a question brings tools, or says how they are to be used.
pub(super) fn brings_tools(params: &RawJson) -> bool {
    let members: Map<String, Value> = params.decode().unwrap_or_default();
    ["tools", "toolChoice"].iter().any(|name| members.get(*name).is_some_and(|value| !value.is_null()))
}

#[cfg(test)]
mod tests;
