//! Results for Gemini's `generateContent`.

use serde_json::{Value, json};

use super::ModelCallResult;
use super::media::MediaSupport;
use super::parts::{ResultPart, block_parts, result_parts};
use crate::outcome::ContentBlock;

/// The parts of the user content that answers the calls of one turn: all `functionResponse` parts first,
/// then the media of all of them as `inlineData`.
///
/// The API matches a response by its name, or by the id where it gave one; `ids` says whether it did.
#[must_use]
pub fn gemini_function_responses(results: &[ModelCallResult<'_>], ids: bool) -> Vec<Value> {
    let mut responses = Vec::with_capacity(results.len());
    let mut media: Vec<Value> = Vec::new();
    for result in results {
        let mut texts: Vec<String> = Vec::new();
        for part in result_parts(result, MediaSupport::Gemini) {
            match part {
                ResultPart::Text(text) => texts.push(text.into_owned()),
                ResultPart::Media(_) => {
                    texts.push(format!("[attachment {}, below]", media.len() + 1));
                    media.push(gemini_part(&part));
                }
            }
        }
        let key = if result.answer.is_error() { "error" } else { "output" };
        let mut response = json!({ "name": result.name, "response": { key: texts.join("\n") } });
        if ids {
            response["id"] = result.id.into();
        }
        responses.push(json!({ "functionResponse": response }));
    }
    responses.extend(media);
    responses
}

/// Parts of a user content.
#[must_use]
pub fn gemini_parts(blocks: &[ContentBlock]) -> Vec<Value> {
    block_parts(blocks, MediaSupport::Gemini).iter().map(gemini_part).collect()
}

fn gemini_part(part: &ResultPart<'_>) -> Value {
    match part {
        ResultPart::Text(text) => json!({ "text": text }),
        ResultPart::Media(media) => {
            json!({ "inlineData": { "mimeType": media.mime, "data": media.data } })
        }
    }
}
