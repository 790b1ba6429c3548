//! The result of a call for the page: text as text, and images only after their bytes were checked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcparley::results::ResourceBody;
use mcparley::{CallOutcome, ContentBlock};
use mcparley_model::limits::PAGE_IMAGE_BYTES;
use serde_json::{Value, json};

/// The image formats that are shown, by the bytes at which they begin.
const FORMATS: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// The outcome of a call as blocks that the page shows.
pub(super) fn describe_outcome(outcome: &CallOutcome) -> Value {
    let mut blocks: Vec<Value> = outcome.content.iter().map(describe_block).collect();
    if let Some(structured) = outcome.unrepeated_structured() {
        let value: Value = serde_json::from_str(structured.as_str()).unwrap_or_default();
        blocks.push(json!({ "kind": "json", "value": value }));
    }
    json!({ "isError": outcome.is_error, "blocks": blocks })
}

fn describe_block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text(text) => json!({ "kind": "text", "text": text }),
        ContentBlock::Image { data, .. } => match checked_image(data) {
            Some((mime, data)) => json!({ "kind": "image", "mime": mime, "data": data }),
            None => json!({ "kind": "note", "text": block.to_text() }),
        },
        ContentBlock::Resource { uri, body: ResourceBody::Text(text), .. } => {
            json!({ "kind": "text", "title": uri, "text": text })
        }
        ContentBlock::Resource { uri, body: ResourceBody::Blob(data), .. } => match checked_image(data) {
            Some((mime, data)) => json!({ "kind": "image", "title": uri, "mime": mime, "data": data }),
            None => json!({ "kind": "note", "text": block.to_text() }),
        },
        ContentBlock::Audio { .. } | ContentBlock::Link { .. } | ContentBlock::Note(_) => {
            json!({ "kind": "note", "text": block.to_text() })
        }
    }
}

/// The format of an image by its bytes, and its base64 text written anew; `None` for any other content. The
/// type that a server declares does not count.
fn checked_image(data: &str) -> Option<(&'static str, String)> {
    if data.len() > PAGE_IMAGE_BYTES {
        return None;
    }
    let bytes = STANDARD.decode(data.trim()).ok()?;
    let (mime, _) = FORMATS.iter().find(|(_, magic)| bytes.starts_with(magic))?;
    if *mime == "image/webp" && bytes.get(8..12) != Some(b"WEBP".as_slice()) {
        return None;
    }
    Some((mime, STANDARD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // U6
    #[test]
    fn type_of_an_image_is_decided_by_its_bytes() {
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        let declared = ContentBlock::Image { mime: "text/html".to_owned(), data: png.clone() };
        assert_eq!(describe_block(&declared), json!({ "kind": "image", "mime": "image/png", "data": png }));
        for bytes in [b"<svg onload=alert(1)>".as_slice(), b"RIFF0000AVI ", b""] {
            let data = STANDARD.encode(bytes);
            let block = ContentBlock::Image { mime: "image/png".to_owned(), data };
            assert_eq!(describe_block(&block)["kind"], "note");
        }
        let broken = ContentBlock::Image { mime: "image/png".to_owned(), data: "\"><script>".to_owned() };
        assert_eq!(describe_block(&broken)["kind"], "note");
    }
}
