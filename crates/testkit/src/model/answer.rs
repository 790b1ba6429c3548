//! Writes the answer of a turn: an error, a document or an event stream, with the faults of the script.

use super::turn::Turn;
use super::{anthropic, error_body, gemini, open_ai};
use crate::http::wire::HttpWire;
use crate::life::LIFE;
use crate::raw::RawBytes;
use mcparley_testkit::ModelApi;
use serde_json::{Value, json};
use std::io;

/// The events of an answer, in three sections: the text may be repeated, and faults come after it.
#[derive(Debug, Default)]
pub(super) struct AnswerEvents {
    pub(super) head: Vec<Value>,
    pub(super) text: Vec<Value>,
    pub(super) tail: Vec<Value>,
}

/// Writes the answer of a turn; returns whether the connection stays open.
pub(super) fn write_turn(api: ModelApi, turn: &Turn, request: &Value, wire: &HttpWire) -> io::Result<bool> {
    if let Some(status) = turn.status() {
        let kind = turn.member("error")["type"].as_str().unwrap_or("api_error");
        let message = turn.member("error")["message"].as_str().unwrap_or("scripted");
        let body = match api {
            ModelApi::Gemini => json!({ "error": { "code": status, "message": message, "status": kind } }),
            ModelApi::OpenAiChat => json!({ "error": { "message": message, "type": kind, "code": kind } }),
            ModelApi::Anthropic => error_body(kind, message),
        };
        return wire.write_json(status, &turn.headers(), &body).map(|_| true);
    }
    let model = request["model"].as_str().unwrap_or("scripted");
    if api == ModelApi::Anthropic && request["stream"] != true {
        return wire.write_json(200, &[], &anthropic::whole_message(turn, model)).map(|_| true);
    }
    let events = match api {
        ModelApi::Anthropic => anthropic::stream_events(turn, model),
        ModelApi::OpenAiChat => open_ai::stream_events(turn, model),
        ModelApi::Gemini => gemini::stream_events(turn),
    };
    write_stream(api, turn, &events, wire)
}

fn write_stream(api: ModelApi, turn: &Turn, events: &AnswerEvents, wire: &HttpWire) -> io::Result<bool> {
    wire.begin_stream(&[])?;
    let write = |event: &Value| wire.write_chunk(&event_bytes(api, event));
    events.head.iter().try_for_each(write)?;
    for _ in 0..turn.repeat() {
        events.text.iter().try_for_each(write)?;
    }
    if turn.is_set("break") {
        return Ok(false);
    }
    if turn.is_set("hang") {
        wire.is_closed_within(LIFE);
        return Ok(false);
    }
    let error = turn.member("error_event");
    if !error.is_null() {
        write(&json!({ "type": "error", "error": error }))?;
        return wire.end_stream().map(|_| true);
    }
    events.tail.iter().try_for_each(write)?;
    if api == ModelApi::OpenAiChat {
        wire.write_chunk(&RawBytes::new("data: [DONE]\n\n"))?;
    }
    wire.end_stream().map(|_| true)
}

/// One server-sent event; those of Anthropic have a name.
fn event_bytes(api: ModelApi, event: &Value) -> RawBytes {
    match (api, event["type"].as_str()) {
        (ModelApi::Anthropic, Some(name)) => RawBytes::new(format!("event: {name}\ndata: {event}\n\n")),
        (ModelApi::Anthropic | ModelApi::OpenAiChat | ModelApi::Gemini, _) => {
            RawBytes::new(format!("data: {event}\n\n"))
        }
    }
}
