//! OpenAI's Chat Completions API, and the services that implement it.

use mcparley::results::dialect::{open_ai_chat_content, open_ai_chat_messages};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::api_error::classify_stream_error;
use super::{number_at, text_at};
use crate::answer::{AnswerBuilder, ModelAnswer, StopReason, TokenUsage};
use crate::choice::ModelChoice;
use crate::error::{ModelErrorKind, StreamProblem};
use crate::message::{AnswerPart, Message, ModelToolCall, call_results};
use crate::request::ModelRequest;

/// The host of OpenAI itself, whose newer models reject the older name of the token limit. Other services
/// often know only that one.
const OPENAI_HOST: &str = "api.openai.com";

#[derive(Serialize)]
struct ChatRequestBody<'b> {
    model: &'b str,
    stream: bool,
    stream_options: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'b RawValue>,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// The API accepts four at most.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'b [String],
}

/// The body of a request.
pub(super) fn write_body(choice: &ModelChoice, request: &ModelRequest<'_>) -> String {
    let is_openai = choice.base_url().host_str() == Some(OPENAI_HOST);
    let limit = request.sampling.max_tokens;
    let stop = request.sampling.stop_sequences;
    let body = ChatRequestBody {
        model: choice.model(),
        stream: true,
        stream_options: json!({ "include_usage": true }),
        tools: request.tools,
        messages: write_messages(request),
        max_completion_tokens: limit.filter(|_| is_openai),
        max_tokens: limit.filter(|_| !is_openai),
        temperature: request.sampling.temperature,
        stop: stop.get(..4).unwrap_or(stop),
    };
    // Serializing strings and values cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn write_messages(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for message in request.messages {
        match message {
            Message::User(blocks) => messages.push(write_user_message(open_ai_chat_content(blocks))),
            Message::Results(answers) => messages.extend(open_ai_chat_messages(&call_results(answers))),
            Message::Assistant(parts) => messages.push(write_answer(parts)),
        }
    }
    messages
}

/// A message of the user; a single text is a plain string, which every service accepts.
fn write_user_message(mut content: Vec<Value>) -> Value {
    match content.as_mut_slice() {
        [only] if only["type"] == "text" => json!({ "role": "user", "content": only["text"].take() }),
        _ => json!({ "role": "user", "content": content }),
    }
}

fn write_answer(parts: &[AnswerPart]) -> Value {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts {
        match part {
            AnswerPart::Text { text: piece, .. } => text.push_str(piece),
            AnswerPart::Call(call) => calls.push(write_call(call)),
            AnswerPart::Private { .. } => {}
        }
    }
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn write_call(call: &ModelToolCall) -> Value {
    let arguments = match &call.arguments {
        // Text that is no JSON goes back as the model wrote it.
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    };
    let function = json!({ "name": call.name, "arguments": arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// Reads the chunks of an answer.
#[derive(Debug)]
pub(crate) struct OpenAiReader {
    builder: AnswerBuilder,
    /// The part of each call, by the call's index in the stream.
    calls: Vec<(u64, usize)>,
    number: usize,
    is_done: bool,
}

impl OpenAiReader {
    pub(super) fn with_number(number: usize) -> Self {
        Self { builder: AnswerBuilder::default(), calls: Vec::new(), number, is_done: false }
    }

    pub(super) fn read_event(&mut self, chunk: &Value) -> Result<Option<String>, ModelErrorKind> {
        if let Some(error) = chunk.get("error").filter(|error| error.is_object()) {
            return Err(classify_stream_error(error));
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.builder.usage = read_usage(usage);
        }
        let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) else { return Ok(None) };
        let delta = &choice["delta"];
        let text = text_at(delta, "content").or_else(|| text_at(delta, "refusal"));
        let text = text.filter(|text| !text.is_empty());
        if let Some(text) = text {
            self.builder.add_text(text)?;
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.add_call_piece(call)?;
        }
        if let Some(reason) = text_at(choice, "finish_reason") {
            self.builder.stop = Some(parse_stop_reason(reason));
        }
        Ok(text.map(str::to_owned))
    }

    /// Notes the mark at the end of the stream.
    pub(super) fn end_stream(&mut self) {
        self.is_done = true;
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_done
    }

    /// The answer. Some services leave out the mark at the end, but none the reason of the stop.
    pub(super) fn finish(mut self) -> Result<ModelAnswer, StreamProblem> {
        let stop = self.builder.stop.take().ok_or(StreamProblem::BrokeOff)?;
        Ok(self.builder.finish(stop))
    }

    fn add_call_piece(&mut self, piece: &Value) -> Result<(), StreamProblem> {
        let id = text_at(piece, "id").filter(|id| !id.is_empty());
        let name = text_at(&piece["function"], "name").filter(|name| !name.is_empty());
        // Some services leave the index out and send each call whole.
        let given = piece.get("index").and_then(Value::as_u64);
        let index = given
            .unwrap_or_else(|| self.calls.len() as u64 - u64::from(id.is_none() && !self.calls.is_empty()));
        let part = match self.calls.iter().find(|(known, _)| *known == index) {
            Some((_, part)) => *part,
            None => {
                let part = self.start_call(id, name)?;
                self.calls.push((index, part));
                part
            }
        };
        match &piece["function"]["arguments"] {
            Value::String(text) => self.builder.add_arguments(part, text),
            whole @ Value::Object(_) => self.builder.add_arguments(part, &whole.to_string()),
            _ => Ok(()),
        }
    }

    fn start_call(&mut self, id: Option<&str>, name: Option<&str>) -> Result<usize, StreamProblem> {
        let own = || format!("call_{}_{}", self.number, self.builder.call_count() + 1);
        let call = ModelToolCall {
            id: id.map_or_else(own, str::to_owned),
            is_own_id: id.is_none(),
            name: name.unwrap_or_default().to_owned(),
            arguments: Value::Object(Map::new()),
            signature: None,
        };
        self.builder.add_part(AnswerPart::Call(call))
    }
}

fn read_usage(usage: &Value) -> TokenUsage {
    let cached = number_at(usage, &["prompt_tokens_details", "cached_tokens"]);
    TokenUsage {
        input_tokens: number_at(usage, &["prompt_tokens"]).saturating_sub(cached),
        output_tokens: number_at(usage, &["completion_tokens"]),
        cache_read_tokens: cached,
        cache_write_tokens: 0,
    }
}

fn parse_stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
