//! Fits the messages of sampling requests to clients of revisions that have fewer kinds of content.

use mcparley_wire::{INVALID_PARAMS, ProtocolVersion, RpcError};
use serde_json::{Map, Value};

/// The first revision with audio.
const AUDIO: &str = "2025-03-26";

/// The first revision with several blocks in one message, and with uses of tools.
const BLOCK_LISTS: &str = "2025-11-25";

/// Rewrites the messages for a client: a list of one block becomes that block.
///
/// # Errors
/// When a message has content that the client's revision does not have. It is not left out: the model would answer
/// another question.
pub(crate) fn fit_messages(
    params: &mut Map<String, Value>,
    version: ProtocolVersion,
) -> Result<(), RpcError> {
    let version = version.as_str();
    let Some(Value::Array(messages)) = params.get_mut("messages") else { return Ok(()) };
    for content in messages.iter_mut().filter_map(|message| message.get_mut("content")) {
        if version < BLOCK_LISTS
            && let Value::Array(blocks) = content
        {
            let (Some(only), 0) = (blocks.pop(), blocks.len()) else {
                return Err(unsupported_error("messages with several blocks of content"));
            };
            *content = only;
        }
        match content.get("type").and_then(Value::as_str) {
            Some("audio") if version < AUDIO => return Err(unsupported_error("audio")),
            Some("tool_use" | "tool_result") if version < BLOCK_LISTS => {
                return Err(unsupported_error("uses of tools"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn unsupported_error(kind: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, &format!("this client does not support {kind} in sampling"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fit_content(content: &Value, version: &str) -> Option<Value> {
        let version = ProtocolVersion::parse_old(version).unwrap();
        let messages = json!([{ "role": "user", "content": content }]);
        let mut params = Map::from_iter([("messages".to_owned(), messages)]);
        fit_messages(&mut params, version).ok().map(|()| params["messages"][0]["content"].clone())
    }

    // G3 X6
    #[test]
    fn content_of_sampling_is_fitted_to_the_revision_or_refused() {
        let (text, audio) = (json!({ "type": "text", "text": "a" }), json!({ "type": "audio", "data": "" }));
        let tool = json!({ "type": "tool_use", "id": "1" });
        let cases = [
            (text.clone(), "2024-11-05", Some(text.clone())),
            (json!([text]), "2024-11-05", Some(text.clone())),
            (json!([text]), "2025-06-18", Some(text.clone())),
            (json!([text]), "2025-11-25", Some(json!([text]))),
            (json!([text, audio]), "2025-11-25", Some(json!([text, audio]))),
            (json!([text, text]), "2025-06-18", None),
            (json!([]), "2025-06-18", None),
            (audio.clone(), "2025-03-26", Some(audio.clone())),
            (audio.clone(), "2024-11-05", None),
            (json!([audio]), "2024-11-05", None),
            (tool.clone(), "2025-06-18", None),
            (tool.clone(), "2025-11-25", Some(tool)),
        ];
        for (content, version, expected) in cases {
            assert_eq!(fit_content(&content, version), expected, "{version}: {content}");
        }
    }
}
