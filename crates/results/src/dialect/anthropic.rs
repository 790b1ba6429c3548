//! Results for Anthropic's Messages API.

use serde_json::{Value, json};

use super::ModelCallResult;
use super::media::MediaSupport;
use super::parts::{ResultPart, block_parts, result_parts};
use crate::outcome::ContentBlock;

/// The `tool_result` blocks of the calls of one turn, for the content of the user message that follows.
#[must_use]
pub fn anthropic_tool_results(results: &[ModelCallResult<'_>]) -> Vec<Value> {
    results.iter().map(tool_result).collect()
}

/// Content blocks of a user message.
#[must_use]
pub fn anthropic_content(blocks: &[ContentBlock]) -> Vec<Value> {
    block_parts(blocks, MediaSupport::Anthropic).iter().map(content_block).collect()
}

fn tool_result(result: &ModelCallResult<'_>) -> Value {
    let is_error = result.answer.is_error();
    // The API rejects an error with an image in it.
    let support = if is_error { MediaSupport::TextOnly } else { MediaSupport::Anthropic };
    let content: Vec<Value> = result_parts(result, support).iter().map(content_block).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.id, "content": content });
    if is_error {
        block["is_error"] = true.into();
    }
    block
}

fn content_block(part: &ResultPart<'_>) -> Value {
    match part {
        ResultPart::Text(text) => json!({ "type": "text", "text": text }),
        ResultPart::Media(media) => {
            let source = json!({ "type": "base64", "media_type": media.mime, "data": media.data });
            json!({ "type": "image", "source": source })
        }
    }
}
