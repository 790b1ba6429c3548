//! Converts the fields of a content block to a [`ContentBlock`], or to a note if the block is unusable.

use mcparley_model::text::{into_clean_text, truncate_text};

use super::block_fields::{BlockFields, BorrowedText, ResourceFields};
use crate::base64_text::is_valid as is_base64;
use crate::outcome::{ContentBlock, ResourceBody};

/// Converts the fields of a block according to its type.
pub(super) fn block_from_fields(mut piece: BlockFields<'_>) -> ContentBlock {
    let kind = piece.kind.take().map(|BorrowedText(kind)| kind);
    let block = match kind.as_deref() {
        Some("text") => piece.text.map(text_block).ok_or("a text block without `text`"),
        Some("image") => media_fields(piece, "image").map(|(mime, data)| ContentBlock::Image { mime, data }),
        Some("audio") => media_fields(piece, "audio").map(|(mime, data)| ContentBlock::Audio { mime, data }),
        Some("resource") => {
            piece.resource.ok_or("a resource block without `resource`").and_then(resource_block)
        }
        Some("resource_link") => link_block(piece),
        Some(kind) => {
            let kind = clean_line(BorrowedText(truncate_text(kind, 64)));
            return ContentBlock::Note(format!("a block of the unknown type `{kind}` was left out"));
        }
        None => Err("a block without a type"),
    };
    block.unwrap_or_else(|what| ContentBlock::Note(format!("{what} was left out")))
}

/// A text block with cleaned text.
pub(super) fn text_block(text: BorrowedText<'_>) -> ContentBlock {
    ContentBlock::Text(clean_text(text))
}

/// The MIME type and base64 data of an image or audio block.
fn media_fields(piece: BlockFields<'_>, kind: &str) -> Result<(String, String), &'static str> {
    let is_image = kind == "image";
    let missing = if is_image { "an image without `data`" } else { "a sound without `data`" };
    let BorrowedText(data) = piece.data.ok_or(missing)?;
    if !is_base64(&data) {
        return Err(if is_image { "an image that is not base64" } else { "a sound that is not base64" });
    }
    let untyped = if is_image { "an image of unknown type" } else { "a sound of unknown type" };
    let written = piece.mime_type.map(clean_line).filter(|mime| !mime.is_empty());
    let mime = written.or_else(|| detect_mime(kind, &data)).ok_or(untyped)?;
    Ok((mime, data.into_owned()))
}

/// An embedded resource block. Text wins over a blob if a server sends both.
fn resource_block(contents: ResourceFields<'_>) -> Result<ContentBlock, &'static str> {
    let uri = contents.uri.map(clean_line).ok_or("a resource without `uri`")?;
    let body = match (contents.text, contents.blob) {
        (Some(text), _) => ResourceBody::Text(clean_text(text)),
        (None, Some(BorrowedText(blob))) if is_base64(&blob) => ResourceBody::Blob(blob.into_owned()),
        (None, Some(_)) => return Err("a resource that is not base64"),
        (None, None) => return Err("a resource without `text` or `blob`"),
    };
    Ok(ContentBlock::Resource { uri, mime: contents.mime_type.map(clean_line), body })
}

/// A resource link block.
fn link_block(piece: BlockFields<'_>) -> Result<ContentBlock, &'static str> {
    let uri = piece.uri.map(clean_line).ok_or("a resource link without `uri`")?;
    let name = piece.name.map(clean_line).filter(|name| !name.is_empty());
    Ok(ContentBlock::Link {
        name: name.unwrap_or_else(|| uri.clone()),
        uri,
        title: piece.title.map(clean_line),
        description: piece.description.map(clean_text),
        mime: piece.mime_type.map(clean_line),
    })
}

/// Cleans multi-line text from a server.
fn clean_text(BorrowedText(text): BorrowedText<'_>) -> String {
    into_clean_text(text)
}

/// Cleans a one-line value from a server and joins its lines, so that it cannot pose as several lines.
fn clean_line(BorrowedText(text): BorrowedText<'_>) -> String {
    let text = into_clean_text(text);
    if text.contains(['\n', '\t']) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text }
}

/// The MIME type detected from the first bytes, for servers that omit it.
fn detect_mime(kind: &str, data: &str) -> Option<String> {
    let known = [
        ("image", "iVBORw0KGgo", "image/png"),
        ("image", "/9j/", "image/jpeg"),
        ("image", "R0lGOD", "image/gif"),
        ("image", "UklGR", "image/webp"),
        ("audio", "UklGR", "audio/wav"),
        ("audio", "SUQz", "audio/mpeg"),
        ("audio", "T2dnUw", "audio/ogg"),
        ("audio", "ZkxhQ", "audio/flac"),
    ];
    let found = known.into_iter().find(|(of, start, _)| *of == kind && data.starts_with(start));
    found.map(|(_, _, mime)| mime.to_owned())
}
