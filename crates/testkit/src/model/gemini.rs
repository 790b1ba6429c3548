//! Answers in the form of Gemini's `streamGenerateContent`.

use super::answer::AnswerEvents;
use super::turn::Turn;
use serde_json::{Value, json};

/// The chunks of a streamed answer. The first call carries a signature, which has to come back.
pub(super) fn stream_events(turn: &Turn) -> AnswerEvents {
    let chunk = |parts: Value, finish: Option<&str>| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        if let Some(finish) = finish {
            candidate["finishReason"] = finish.into();
        }
        let usage = json!({
            "promptTokenCount": 120, "candidatesTokenCount": 25, "thoughtsTokenCount": 5, "cachedContentTokenCount": 20,
        });
        json!({ "candidates": [candidate], "usageMetadata": usage })
    };
    let mut events = AnswerEvents::default();
    events.head.push(chunk(json!([{ "text": "hidden", "thought": true }]), None));
    events.text.extend(turn.pieces().into_iter().map(|piece| chunk(json!([{ "text": piece }]), None)));
    for (index, call) in turn.calls().into_iter().enumerate() {
        let mut part = json!({ "functionCall": { "name": call.name, "args": call.arguments } });
        if index == 0 {
            part["thoughtSignature"] = "c2lnbmVk".into();
        }
        events.tail.push(chunk(json!([part]), None));
    }
    events.tail.push(chunk(json!([]), Some(turn.stop().unwrap_or("STOP"))));
    events
}
