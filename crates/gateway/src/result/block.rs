//! One block of a result, written for a client that could not read it as it came.

use mcparley::{Block, Body};
use mcparley_wire::Version;
use serde_json::{Value, json};

use super::faithful::{knows_audio, knows_links};

/// A block in the form of a revision; what it does not know is told as text.
pub(super) fn written(block: &Block, version: Version) -> Value {
    match block {
        Block::Text(text) => said(text),
        Block::Note(note) => said(&format!("[{note}]")),
        Block::Image { mime, data } => json!({ "type": "image", "data": data, "mimeType": mime }),
        Block::Audio { mime, data } if knows_audio(version) => {
            json!({ "type": "audio", "data": data, "mimeType": mime })
        }
        Block::Audio { mime, .. } => {
            said(&format!("[a sound of type {mime}, which this client does not know]"))
        }
        Block::Resource { uri, mime, body } => {
            let mut resource = json!({ "uri": uri });
            if let Some(mime) = mime {
                resource["mimeType"] = json!(mime);
            }
            match body {
                Body::Text(text) => resource["text"] = json!(text),
                Body::Blob(data) => resource["blob"] = json!(data),
            }
            json!({ "type": "resource", "resource": resource })
        }
        Block::Link { uri, name, title, description, mime } if knows_links(version) => {
            let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
            let more = [("title", title), ("description", description), ("mimeType", mime)];
            for (key, value) in more.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
                link[key] = json!(value);
            }
            link
        }
        Block::Link { uri, name, .. } => said(&format!("[link {name} {uri}]")),
        _ => said("[a block of a kind that this gateway does not know]"),
    }
}

fn said(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
