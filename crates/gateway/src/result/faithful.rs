//! Decides whether a client of a revision can read a result as its server wrote it.

use std::borrow::Cow;

use mcparley_wire::{RawJson, Version};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The revision that brought sounds.
const AUDIO: &str = "2025-03-26";

/// The revision that brought links to resources, and structured content.
const LINKS: &str = "2025-06-18";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    content: Vec<Piece<'a>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// What decides about a block; the rest of it is not looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    mime_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    resource: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Contents<'a> {
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    blob: Option<&'a RawValue>,
}

/// Whether every part of the result is of a form that the revision has. One without content is not: a client would show
/// nothing at all.
pub(super) fn reads(raw: &RawJson, version: Version) -> bool {
    let Ok(answer) = serde_json::from_slice::<Answer<'_>>(raw.as_bytes()) else { return false };
    let is_object = |raw: &RawValue| raw.get().starts_with('{');
    let structured = answer.structured_content.filter(|raw| raw.get() != "null");
    // A member that says nothing is one that a strict client trips over.
    let says_null = raw.as_str().contains("null") && says_null(raw);
    let is_error_known = answer.is_error.is_some() || !says_null;
    !answer.content.is_empty()
        && is_error_known
        && answer.content.iter().all(|piece| piece.is_of(version))
        && structured.is_none_or(|raw| takes_structured(is_object(raw), version))
        && !(structured.is_none() && says_null)
}

/// Whether the revision takes structured content, which is an object until the new era.
pub(super) fn takes_structured(is_object: bool, version: Version) -> bool {
    // The oldest revisions do not know it, and read over it.
    is_object || version == Version::NEW
}

/// Whether `isError` or `structuredContent` is `null`.
fn says_null(raw: &RawJson) -> bool {
    let is_null = |name: &str| raw.member(name).is_some_and(|member| member.as_str() == "null");
    is_null("isError") || is_null("structuredContent") || is_null("_meta")
}

impl Piece<'_> {
    fn is_of(&self, version: Version) -> bool {
        let is_text = |raw: Option<&RawValue>| raw.is_some_and(|raw| raw.get().starts_with('"'));
        let version = version.as_str();
        match self.kind.as_ref() {
            "text" => is_text(self.text),
            "image" => is_text(self.data) && is_text(self.mime_type),
            "audio" => version >= AUDIO && is_text(self.data) && is_text(self.mime_type),
            "resource_link" => version >= LINKS && is_text(self.uri) && is_text(self.name),
            "resource" => self.resource.is_some_and(|raw| {
                let contents: Result<Contents<'_>, _> = serde_json::from_str(raw.get());
                contents.is_ok_and(|it| is_text(it.uri) && (is_text(it.text) || is_text(it.blob)))
            }),
            _ => false,
        }
    }
}

/// Whether the revision knows sounds.
pub(super) fn knows_audio(version: Version) -> bool {
    version.as_str() >= AUDIO
}

/// Whether the revision knows links to resources.
pub(super) fn knows_links(version: Version) -> bool {
    version.as_str() >= LINKS
}
