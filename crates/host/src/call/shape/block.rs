//! Decides what a content block is, and what is said in place of one that cannot be used.

use mcparley_model::text::{cut, into_clean};

use super::piece::{Contents, Piece, Text};
use crate::base64_text::is_valid as is_base64;
use crate::call::outcome::{Block, Body};

/// The block that a piece stands for.
pub(super) fn of(mut piece: Piece<'_>) -> Block {
    let kind = piece.kind.take().map(|Text(kind)| kind);
    let block = match kind.as_deref() {
        Some("text") => piece.text.map(text).ok_or("a text block without `text`"),
        Some("image") => media(piece, "image").map(|(mime, data)| Block::Image { mime, data }),
        Some("audio") => media(piece, "audio").map(|(mime, data)| Block::Audio { mime, data }),
        Some("resource") => piece.resource.ok_or("a resource block without `resource`").and_then(resource),
        Some("resource_link") => link(piece),
        Some(kind) => {
            let kind = line(Text(cut(kind, 64)));
            return Block::Note(format!("a block of the unknown type `{kind}` was left out"));
        }
        None => Err("a block without a type"),
    };
    block.unwrap_or_else(|what| Block::Note(format!("{what} was left out")))
}

/// A text.
pub(super) fn text(text: Text<'_>) -> Block {
    Block::Text(body(text))
}

/// The type and the bytes of a picture or a sound.
fn media(piece: Piece<'_>, kind: &str) -> Result<(String, String), &'static str> {
    let is_image = kind == "image";
    let missing = if is_image { "an image without `data`" } else { "a sound without `data`" };
    let Text(data) = piece.data.ok_or(missing)?;
    if !is_base64(&data) {
        return Err(if is_image { "an image that is not base64" } else { "a sound that is not base64" });
    }
    let untyped = if is_image { "an image of unknown type" } else { "a sound of unknown type" };
    let written = piece.mime_type.map(line).filter(|mime| !mime.is_empty());
    let mime = written.or_else(|| mime_of(kind, &data)).ok_or(untyped)?;
    Ok((mime, data.into_owned()))
}

fn resource(contents: Contents<'_>) -> Result<Block, &'static str> {
    let uri = contents.uri.map(line).ok_or("a resource without `uri`")?;
    let body = match (contents.text, contents.blob) {
        (Some(text), _) => Body::Text(body(text)),
        (None, Some(Text(blob))) if is_base64(&blob) => Body::Blob(blob.into_owned()),
        (None, Some(_)) => return Err("a resource that is not base64"),
        (None, None) => return Err("a resource without `text` or `blob`"),
    };
    Ok(Block::Resource { uri, mime: contents.mime_type.map(line), body })
}

fn link(piece: Piece<'_>) -> Result<Block, &'static str> {
    let uri = piece.uri.map(line).ok_or("a resource link without `uri`")?;
    let name = piece.name.map(line).filter(|name| !name.is_empty());
    Ok(Block::Link {
        name: name.unwrap_or_else(|| uri.clone()),
        uri,
        title: piece.title.map(line),
        description: piece.description.map(body),
        mime: piece.mime_type.map(line),
    })
}

/// Foreign text of any length, cleaned.
fn body(Text(text): Text<'_>) -> String {
    into_clean(text)
}

/// Foreign text that is one word or one line, cleaned; it must not pass for several.
fn line(Text(text): Text<'_>) -> String {
    let text = into_clean(text);
    if text.contains(['\n', '\t']) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text }
}

/// The type that the first bytes tell, for servers that forget to.
fn mime_of(kind: &str, data: &str) -> Option<String> {
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
