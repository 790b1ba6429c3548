//! Serializes one block of a rebuilt result for a protocol version.

use mcparley::ContentBlock;
use mcparley::results::ResourceBody;
use mcparley_wire::ProtocolVersion;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json_edit::{JsonEdit, JsonMembers, array_elements};

/// Replaces the blocks that a protocol version does not have by text; the others keep their bytes.
pub(crate) fn replace_unknown_blocks<'j>(
    edit: &mut JsonEdit<'j>,
    content: &'j RawValue,
    version: ProtocolVersion,
) {
    let may_have = |kind: &str| content.get().contains(kind);
    if (version.has_audio() || !may_have("audio"))
        && (version.has_resource_links() || !may_have("resource_link"))
    {
        return;
    }
    array_elements(content).into_iter().for_each(|block| replace_unknown_block(edit, block, version));
}

/// Replaces a block that a protocol version does not have by text.
pub(crate) fn replace_unknown_block<'j>(
    edit: &mut JsonEdit<'j>,
    block: &'j RawValue,
    version: ProtocolVersion,
) {
    let Some(members) = JsonMembers::parse(block.get()) else { return };
    let text = |name: &str| members.text(name).unwrap_or_default();
    let note = match text("type").as_str() {
        "audio" if !version.has_audio() => {
            format!("[audio of type {}, which this client does not support]", text("mimeType"))
        }
        "resource_link" if !version.has_resource_links() => {
            format!("[link {} {}]", text("name"), text("uri"))
        }
        _ => return,
    };
    edit.replace(block, text_block(&note).to_string());
}

/// The JSON of a block for a protocol version; a block type that the version does not have becomes text.
pub(super) fn block_to_json(block: &ContentBlock, version: ProtocolVersion) -> Value {
    match block {
        ContentBlock::Text(text) => text_block(text),
        ContentBlock::Note(note) => text_block(&format!("[{note}]")),
        ContentBlock::Image { mime, data } => json!({ "type": "image", "data": data, "mimeType": mime }),
        ContentBlock::Audio { mime, data } if version.has_audio() => {
            json!({ "type": "audio", "data": data, "mimeType": mime })
        }
        ContentBlock::Audio { mime, .. } => {
            text_block(&format!("[audio of type {mime}, which this client does not support]"))
        }
        ContentBlock::Resource { uri, mime, body } => {
            let mut resource = json!({ "uri": uri });
            if let Some(mime) = mime {
                resource["mimeType"] = json!(mime);
            }
            match body {
                ResourceBody::Text(text) => resource["text"] = json!(text),
                ResourceBody::Blob(data) => resource["blob"] = json!(data),
            }
            json!({ "type": "resource", "resource": resource })
        }
        ContentBlock::Link { uri, name, title, description, mime } if version.has_resource_links() => {
            let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
            let more = [("title", title), ("description", description), ("mimeType", mime)];
            for (key, value) in more.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
                link[key] = json!(value);
            }
            link
        }
        ContentBlock::Link { uri, name, .. } => text_block(&format!("[link {name} {uri}]")),
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
