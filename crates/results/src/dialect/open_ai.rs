//! Results for OpenAI's APIs: Chat Completions, which many services implement, and Responses.

use serde_json::{Value, json};

use super::ModelCallResult;
use super::media::{Media, MediaSupport};
use super::parts::{ResultPart, block_parts, result_parts};
use crate::outcome::ContentBlock;

/// The messages that answer the calls of one turn of Chat Completions.
///
/// Each call gets one `tool` message, which takes text only. The images of all calls follow in one user
/// message, because nothing may stand between the calls and their answers.
#[must_use]
pub fn open_ai_chat_messages(results: &[ModelCallResult<'_>]) -> Vec<Value> {
    let mut messages = Vec::with_capacity(results.len() + 1);
    let mut images: Vec<Value> = Vec::new();
    for result in results {
        let mut text = if result.answer.is_error() { "Error: ".to_owned() } else { String::new() };
        let (mut is_first, mut count) = (true, 0);
        for part in result_parts(result, MediaSupport::OpenAi) {
            if !std::mem::take(&mut is_first) {
                text.push('\n');
            }
            match part {
                ResultPart::Text(part) => text.push_str(&part),
                ResultPart::Media(media) => {
                    count += 1;
                    text.push_str(&format!("[image {count}, attached below]"));
                    let label = format!("Image {count} of the result of {} ({}):", result.name, result.id);
                    images.extend([chat_text(&label), chat_image(&media)]);
                }
            }
        }
        messages.push(json!({ "role": "tool", "tool_call_id": result.id, "content": text }));
    }
    if !images.is_empty() {
        messages.push(json!({ "role": "user", "content": images }));
    }
    messages
}

/// The `function_call_output` items that answer the calls of one turn of the Responses API.
#[must_use]
pub fn open_ai_function_outputs(results: &[ModelCallResult<'_>]) -> Vec<Value> {
    let item = |result: &ModelCallResult<'_>| {
        let content = |part: &ResultPart<'_>| match part {
            ResultPart::Text(text) => json!({ "type": "input_text", "text": text }),
            ResultPart::Media(media) => json!({ "type": "input_image", "image_url": data_url(media) }),
        };
        let mut output: Vec<Value> = result_parts(result, MediaSupport::OpenAi).iter().map(content).collect();
        if result.answer.is_error() {
            output.insert(0, json!({ "type": "input_text", "text": "Error:" }));
        }
        json!({ "type": "function_call_output", "call_id": result.id, "output": output })
    };
    results.iter().map(item).collect()
}

/// Content parts of a user message of Chat Completions.
#[must_use]
pub fn open_ai_chat_content(blocks: &[ContentBlock]) -> Vec<Value> {
    let part = |part: &ResultPart<'_>| match part {
        ResultPart::Text(text) => chat_text(text),
        ResultPart::Media(media) => chat_image(media),
    };
    block_parts(blocks, MediaSupport::OpenAi).iter().map(part).collect()
}

fn chat_text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn chat_image(media: &Media<'_>) -> Value {
    json!({ "type": "image_url", "image_url": { "url": data_url(media) } })
}

fn data_url(media: &Media<'_>) -> String {
    format!("data:{};base64,{}", media.mime, media.data)
}
