//! Answers in the form of OpenAI's Chat Completions.

use super::answer::AnswerEvents;
use super::turn::Turn;
use serde_json::{Value, json};

/// The chunks of a streamed answer.
pub(super) fn stream_events(turn: &Turn, model: &str) -> AnswerEvents {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        whole_chunk(turn, model, &json!([choice]), &Value::Null)
    };
    let mut events = AnswerEvents::default();
    events.head.push(chunk(json!({ "role": "assistant", "content": "" }), None));
    events.text.extend(turn.pieces().into_iter().map(|piece| chunk(json!({ "content": piece }), None)));
    for (index, call) in turn.calls().into_iter().enumerate() {
        let function = json!({ "name": call.name, "arguments": "" });
        let first = json!({ "index": index, "id": call.id, "type": "function", "function": function });
        events.tail.push(chunk(json!({ "tool_calls": [first] }), None));
        let text = call.arguments.to_string();
        let middle = (0..=text.len() / 2).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0);
        for piece in [&text[..middle], &text[middle..]] {
            let piece = json!({ "index": index, "function": { "arguments": piece } });
            events.tail.push(chunk(json!({ "tool_calls": [piece] }), None));
        }
    }
    let usual = if turn.calls().is_empty() { "stop" } else { "tool_calls" };
    events.tail.push(chunk(json!({}), Some(turn.stop().unwrap_or(usual))));
    let usage = json!({
        "prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150,
        "prompt_tokens_details": { "cached_tokens": 20 },
    });
    events.tail.push(whole_chunk(turn, model, &json!([]), &usage));
    events
}

fn whole_chunk(turn: &Turn, model: &str, choices: &Value, usage: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", turn.number), "object": "chat.completion.chunk", "created": 0, "model": model,
        "choices": choices, "usage": usage,
    })
}
