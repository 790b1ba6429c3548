//! Results, prompts and resources as text for the terminal.

use mcparley::ContentBlock;
use mcparley::prompt::PromptMessages;
use mcparley::results::ResourceBody;

/// The messages of a prompt; the role of each stands above it if there are several.
pub(crate) fn prompt_text(prompt: &PromptMessages) -> String {
    let has_roles = prompt.messages.len() > 1;
    let message = |message: &mcparley::prompt::PromptMessage| {
        let text = blocks_text(&message.content);
        if has_roles { format!("{}:\n{text}", message.role.as_str()) } else { text }
    };
    let messages: Vec<String> = prompt.messages.iter().map(message).collect();
    if messages.is_empty() { "(no messages)".to_owned() } else { messages.join("\n\n") }
}

/// The blocks, one below the other. Bytes become one line that says their size.
pub(crate) fn blocks_text(blocks: &[ContentBlock]) -> String {
    let texts: Vec<String> = blocks.iter().map(block_text).collect();
    if texts.is_empty() { "(no content)".to_owned() } else { texts.join("\n") }
}

fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) | ContentBlock::Resource { body: ResourceBody::Text(text), .. } => {
            text.clone()
        }
        ContentBlock::Image { mime, data } => format!("[image {mime}, {}]", size_text(data)),
        ContentBlock::Audio { mime, data } => format!("[audio {mime}, {}]", size_text(data)),
        ContentBlock::Resource { uri, mime, body: ResourceBody::Blob(data) } => {
            let mime = mime.as_deref().unwrap_or("application/octet-stream");
            format!("[resource {uri} {mime}, {}]", size_text(data))
        }
        ContentBlock::Link { uri, name, title, .. } => {
            format!("{} <{uri}>", title.as_deref().unwrap_or(name))
        }
        ContentBlock::Note(note) => format!("[{note}]"),
    }
}

/// The size of bytes in base64.
fn size_text(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    format!("{bytes} bytes")
}
