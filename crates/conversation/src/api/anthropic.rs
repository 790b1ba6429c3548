//! Anthropic's Messages API.

use mcparley::results::dialect::{anthropic_content, anthropic_tool_results};
use mcparley_model::limits::conversation::ANSWER_TOKENS;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::api_error::classify_stream_error;
use super::{number_at, text_at};
use crate::answer::{AnswerBuilder, ModelAnswer, StopReason};
use crate::choice::ModelChoice;
use crate::error::{ModelErrorKind, StreamProblem};
use crate::message::{AnswerPart, Message, ModelToolCall, call_results};
use crate::provider::Provider;
use crate::request::ModelRequest;

/// The version of the API.
pub(super) const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct AnthropicRequestBody<'b> {
    model: &'b str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'b RawValue>,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'b [String],
}

/// The body of a request. The system prompt and the last message are marks of the prompt cache.
pub(super) fn write_body(choice: &ModelChoice, request: &ModelRequest<'_>) -> String {
    let mut messages = write_messages(request.messages);
    if let Some(last) = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut())
    {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
    let system = json!({ "type": "text", "text": request.system, "cache_control": { "type": "ephemeral" } });
    let body = AnthropicRequestBody {
        model: choice.model(),
        max_tokens: request.sampling.max_tokens.unwrap_or(ANSWER_TOKENS),
        stream: true,
        system: if request.system.is_empty() { Vec::new() } else { vec![system] },
        tools: request.tools,
        messages,
        temperature: request.sampling.temperature,
        stop_sequences: request.sampling.stop_sequences,
    };
    // Serializing strings and values cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

/// The messages; neighbors of the same role become one.
fn write_messages(messages: &[Message]) -> Vec<Value> {
    let mut written: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, content) = match message {
            Message::User(blocks) => ("user", anthropic_content(blocks)),
            Message::Results(answers) => ("user", anthropic_tool_results(&call_results(answers))),
            Message::Assistant(parts) => ("assistant", parts.iter().filter_map(write_part).collect()),
        };
        match written.last_mut() {
            Some((last, before)) if *last == role => before.extend(content),
            _ if content.is_empty() => {}
            _ => written.push((role, content)),
        }
    }
    written.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn write_part(part: &AnswerPart) -> Option<Value> {
    match part {
        AnswerPart::Text { text, .. } if text.trim().is_empty() => None,
        AnswerPart::Text { text, .. } => Some(json!({ "type": "text", "text": text })),
        AnswerPart::Call(ModelToolCall { id, name, arguments, .. }) => {
            // Anything else was answered with an error, and the API accepts objects only.
            let input = if arguments.is_object() { arguments.clone() } else { json!({}) };
            Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
        }
        AnswerPart::Private { provider: Provider::Anthropic, block } => Some(block.clone()),
        AnswerPart::Private { .. } => None,
    }
}

/// Reads the events of an answer.
#[derive(Debug, Default)]
pub(crate) struct AnthropicReader {
    builder: AnswerBuilder,
    /// The part of each content block of the stream, by the block's index; `None` for an ignored block.
    blocks: Vec<(u64, Option<usize>)>,
    is_complete: bool,
}

impl AnthropicReader {
    pub(super) fn read_event(&mut self, mut event: Value) -> Result<Option<String>, ModelErrorKind> {
        match text_at(&event, "type") {
            Some("message_start") => self.read_usage(&event["message"]["usage"]),
            Some("content_block_start") => {
                let index = number_at(&event, &["index"]);
                return Ok(self.start_block(index, event["content_block"].take())?);
            }
            Some("content_block_delta") => {
                return Ok(self.add_delta(number_at(&event, &["index"]), &event["delta"])?);
            }
            Some("message_delta") => {
                if let Some(reason) = text_at(&event["delta"], "stop_reason") {
                    self.builder.stop = Some(parse_stop_reason(reason));
                }
                self.read_usage(&event["usage"]);
            }
            Some("message_stop") => self.is_complete = true,
            Some("error") => return Err(classify_stream_error(&event["error"])),
            // `ping`, `content_block_stop`, and events that may be added later.
            Some(_) => {}
            None => return Err(StreamProblem::Malformed("an event has no type").into()),
        }
        Ok(None)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn finish(mut self) -> Result<ModelAnswer, StreamProblem> {
        match self.builder.stop.take() {
            Some(stop) if self.is_complete => Ok(self.builder.finish(stop)),
            Some(_) | None => Err(StreamProblem::BrokeOff),
        }
    }

    fn start_block(&mut self, index: u64, block: Value) -> Result<Option<String>, StreamProblem> {
        let mut text = None;
        let part = match text_at(&block, "type") {
            Some("text") => {
                let words = text_at(&block, "text").unwrap_or_default().to_owned();
                text = Some(words.clone()).filter(|words| !words.is_empty());
                Some(AnswerPart::Text { text: words, signature: None })
            }
            Some("tool_use") => Some(AnswerPart::Call(ModelToolCall {
                id: text_at(&block, "id").unwrap_or_default().to_owned(),
                is_own_id: false,
                name: text_at(&block, "name").unwrap_or_default().to_owned(),
                arguments: block.get("input").cloned().unwrap_or_else(|| Value::Object(Map::new())),
                signature: None,
            })),
            Some("thinking" | "redacted_thinking") => {
                Some(AnswerPart::Private { provider: Provider::Anthropic, block })
            }
            Some(_) | None => None,
        };
        let part = part.map(|part| self.builder.add_part(part)).transpose()?;
        self.blocks.push((index, part));
        Ok(text)
    }

    fn add_delta(&mut self, index: u64, delta: &Value) -> Result<Option<String>, StreamProblem> {
        let Some((_, part)) = self.blocks.iter().rev().find(|(known, _)| *known == index) else {
            return Err(StreamProblem::Malformed("a delta belongs to no content block"));
        };
        let Some(part) = *part else { return Ok(None) };
        match text_at(delta, "type") {
            Some("text_delta") => {
                let piece = text_at(delta, "text").unwrap_or_default();
                self.builder.count_bytes(piece.len())?;
                if let Some(AnswerPart::Text { text, .. }) = self.builder.part_mut(part) {
                    text.push_str(piece);
                }
                return Ok(Some(piece.to_owned()));
            }
            Some("input_json_delta") => {
                let piece = text_at(delta, "partial_json").unwrap_or_default();
                self.builder.add_arguments(part, piece)?;
            }
            Some("thinking_delta") => self.extend_private(part, delta, "thinking")?,
            Some("signature_delta") => self.extend_private(part, delta, "signature")?,
            Some(_) | None => {}
        }
        Ok(None)
    }

    /// Extends a member of a private block with the member of the same name of a delta.
    fn extend_private(&mut self, part: usize, delta: &Value, name: &str) -> Result<(), StreamProblem> {
        let piece = text_at(delta, name).unwrap_or_default();
        self.builder.count_bytes(piece.len())?;
        if let Some(AnswerPart::Private { block, .. }) = self.builder.part_mut(part) {
            let before = text_at(block, name).unwrap_or_default();
            block[name] = format!("{before}{piece}").into();
        }
        Ok(())
    }

    /// Takes over the counts, which later events repeat with higher values.
    fn read_usage(&mut self, usage: &Value) {
        let counts = &mut self.builder.usage;
        let read = |name: &str, count: &mut u64| *count = (*count).max(number_at(usage, &[name]));
        read("input_tokens", &mut counts.input_tokens);
        read("output_tokens", &mut counts.output_tokens);
        read("cache_read_input_tokens", &mut counts.cache_read_tokens);
        read("cache_creation_input_tokens", &mut counts.cache_write_tokens);
    }
}

fn parse_stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextFull,
        other => StopReason::Other(other.to_owned()),
    }
}
