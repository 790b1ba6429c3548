//! Gemini's `streamGenerateContent`.

use mcparley::results::dialect::{gemini_function_responses, gemini_parts};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::api_error::classify_stream_error;
use super::{number_at, text_at};
use crate::answer::{AnswerBuilder, ModelAnswer, StopReason, TokenUsage};
use crate::error::{ModelErrorKind, StreamProblem};
use crate::message::{AnswerPart, Message, ModelToolCall, call_results};
use crate::request::ModelRequest;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiRequestBody<'b> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'b RawValue>,
    contents: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<Value>,
}

/// The body of a request.
pub(super) fn write_body(request: &ModelRequest<'_>) -> String {
    let system = json!({ "parts": [{ "text": request.system }] });
    let body = GeminiRequestBody {
        system_instruction: (!request.system.is_empty()).then_some(system),
        tools: request.tools,
        contents: write_contents(request.messages),
        generation_config: write_config(request),
    };
    // Serializing strings and values cannot fail.
    serde_json::to_string(&body).unwrap_or_default()
}

fn write_config(request: &ModelRequest<'_>) -> Option<Value> {
    let mut config = Map::new();
    if let Some(limit) = request.sampling.max_tokens {
        config.insert("maxOutputTokens".to_owned(), limit.into());
    }
    if let Some(temperature) = request.sampling.temperature {
        config.insert("temperature".to_owned(), temperature.into());
    }
    if !request.sampling.stop_sequences.is_empty() {
        config.insert("stopSequences".to_owned(), request.sampling.stop_sequences.into());
    }
    (!config.is_empty()).then_some(Value::Object(config))
}

/// The contents; neighbors of the same role become one.
fn write_contents(messages: &[Message]) -> Vec<Value> {
    let mut written: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            Message::User(blocks) => ("user", gemini_parts(blocks)),
            Message::Results(answers) => {
                let gave_ids = answers.iter().any(|answer| !answer.is_own_id);
                ("user", gemini_function_responses(&call_results(answers), gave_ids))
            }
            Message::Assistant(parts) => ("model", parts.iter().filter_map(write_part).collect()),
        };
        match written.last_mut() {
            Some((last, before)) if *last == role => before.extend(parts),
            _ if parts.is_empty() => {}
            _ => written.push((role, parts)),
        }
    }
    written.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn write_part(part: &AnswerPart) -> Option<Value> {
    let (mut written, signature) = match part {
        AnswerPart::Text { text, signature } => (json!({ "text": text }), signature),
        AnswerPart::Call(call) => {
            let args = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            let mut function = json!({ "name": call.name, "args": args });
            if !call.is_own_id {
                function["id"] = call.id.as_str().into();
            }
            (json!({ "functionCall": function }), &call.signature)
        }
        AnswerPart::Private { .. } => return None,
    };
    if let Some(signature) = signature {
        written["thoughtSignature"] = signature.as_str().into();
    }
    Some(written)
}

/// Reads the chunks of an answer.
#[derive(Debug)]
pub(crate) struct GeminiReader {
    builder: AnswerBuilder,
    number: usize,
}

impl GeminiReader {
    pub(super) fn with_number(number: usize) -> Self {
        Self { builder: AnswerBuilder::default(), number }
    }

    pub(super) fn read_event(&mut self, chunk: &Value) -> Result<Option<String>, ModelErrorKind> {
        if let Some(error) = chunk.get("error").filter(|error| error.is_object()) {
            return Err(classify_stream_error(error));
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            self.builder.usage = read_usage(usage);
        }
        if text_at(&chunk["promptFeedback"], "blockReason").is_some() {
            self.builder.stop = Some(StopReason::Refusal);
        }
        let candidate = &chunk["candidates"][0];
        let mut shown = String::new();
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.add_part(part, &mut shown)?;
        }
        if let Some(reason) = text_at(candidate, "finishReason") {
            self.builder.stop = Some(parse_stop_reason(reason));
        }
        Ok((!shown.is_empty()).then_some(shown))
    }

    pub(super) fn finish(mut self) -> Result<ModelAnswer, StreamProblem> {
        let stop = self.builder.stop.take().ok_or(StreamProblem::BrokeOff)?;
        Ok(self.builder.finish(stop))
    }

    fn add_part(&mut self, part: &Value, shown: &mut String) -> Result<(), StreamProblem> {
        let signature = text_at(part, "thoughtSignature").map(str::to_owned);
        if let Some(function) = part.get("functionCall") {
            let id = text_at(function, "id").filter(|id| !id.is_empty());
            let own = || format!("call_{}_{}", self.number, self.builder.call_count() + 1);
            let call = ModelToolCall {
                id: id.map_or_else(own, str::to_owned),
                is_own_id: id.is_none(),
                name: text_at(function, "name").unwrap_or_default().to_owned(),
                arguments: function.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new())),
                signature,
            };
            return self.builder.add_part(AnswerPart::Call(call)).map(drop);
        }
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or_default();
        let Some(text) = text_at(part, "text").filter(|_| !is_thought) else { return Ok(()) };
        shown.push_str(text);
        match signature {
            None => self.builder.add_text(text),
            signature => {
                self.builder.add_part(AnswerPart::Text { text: text.to_owned(), signature }).map(drop)
            }
        }
    }
}

fn read_usage(usage: &Value) -> TokenUsage {
    let cached = number_at(usage, &["cachedContentTokenCount"]);
    let thoughts = number_at(usage, &["thoughtsTokenCount"]);
    TokenUsage {
        input_tokens: number_at(usage, &["promptTokenCount"]).saturating_sub(cached),
        output_tokens: number_at(usage, &["candidatesTokenCount"]).saturating_add(thoughts),
        cache_read_tokens: cached,
        cache_write_tokens: 0,
    }
}

fn parse_stop_reason(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
