//! Answers in the form of Anthropic's Messages API.

use super::answer::AnswerEvents;
use super::turn::Turn;
use serde_json::{Value, json};

/// The events of a streamed answer.
pub(super) fn stream_events(turn: &Turn, model: &str) -> AnswerEvents {
    let mut events = AnswerEvents::default();
    let usage = json!({ "input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 5 });
    let message = json!({
        "id": format!("msg_{}", turn.number), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    events.head.push(json!({ "type": "message_start", "message": message }));
    let mut index = 0;
    if let Some(thinking) = turn.thinking() {
        let block = json!({ "type": "thinking", "thinking": "", "signature": "" });
        events.head.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let deltas = [
            json!({ "type": "thinking_delta", "thinking": thinking }),
            json!({ "type": "signature_delta", "signature": "c2lnbmVk" }),
        ];
        events.head.extend(deltas.map(|delta| block_delta(index, &delta)));
        events.head.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    if !turn.text().is_empty() {
        let block = json!({ "type": "text", "text": "" });
        events.head.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.head.push(json!({ "type": "ping" }));
        let piece = |piece: String| block_delta(index, &json!({ "type": "text_delta", "text": piece }));
        events.text.extend(turn.pieces().into_iter().map(piece));
        events.tail.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    for call in turn.calls() {
        let block =
            json!({ "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": {} });
        events.tail.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let text = call.arguments.to_string();
        let middle = (0..=text.len() / 2).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0);
        let (first, second) = text.split_at(middle);
        let piece = |piece| block_delta(index, &json!({ "type": "input_json_delta", "partial_json": piece }));
        events.tail.extend(["", first, second].map(piece));
        events.tail.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    }
    let delta = json!({ "stop_reason": stop_reason(turn), "stop_sequence": null });
    events.tail.push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 30 } }));
    events.tail.push(json!({ "type": "message_stop" }));
    events
}

/// The answer as one document.
pub(super) fn whole_message(turn: &Turn, model: &str) -> Value {
    let text = (!turn.text().is_empty()).then(|| json!({ "type": "text", "text": turn.text() }));
    let calls = turn.calls().into_iter().map(|call| {
        json!({ "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": call.arguments })
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    json!({
        "id": format!("msg_{}", turn.number), "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": stop_reason(turn), "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 30 },
    })
}

fn block_delta(index: usize, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop_reason(turn: &Turn) -> &str {
    let usual = if turn.calls().is_empty() { "end_turn" } else { "tool_use" };
    turn.stop().unwrap_or(usual)
}
