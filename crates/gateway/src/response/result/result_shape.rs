//! Decides whether a client can parse a result as its server wrote it.

use std::borrow::Cow;

use mcparley_wire::{ProtocolVersion, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The members that decide about a result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultShape<'a> {
    #[serde(borrow)]
    content: Vec<BlockShape<'a>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// The members that decide about a block; other members are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockShape<'a> {
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

/// The members that decide about an embedded resource.
#[derive(Deserialize)]
struct EmbeddedResourceShape<'a> {
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    blob: Option<&'a RawValue>,
}

/// Whether every part of the result is valid in the protocol version. A result without content is not: a
/// client would show an empty result.
pub(super) fn can_read_result(raw: &RawJson, version: ProtocolVersion) -> bool {
    let Ok(answer) = serde_json::from_slice::<ResultShape<'_>>(raw.as_bytes()) else { return false };
    let is_object = |raw: &RawValue| raw.get().starts_with('{');
    let structured = answer.structured_content.filter(|raw| raw.get() != "null");
    // A strict client rejects a member that is `null`.
    let says_null = raw.as_str().contains("null") && has_null_member(raw);
    let is_error_known = answer.is_error.is_some() || !says_null;
    !answer.content.is_empty()
        && is_error_known
        && answer.content.iter().all(|piece| piece.is_valid_in(version))
        && structured.is_none_or(|raw| allows_structured(is_object(raw), version))
        && !(structured.is_none() && says_null)
}

/// Whether a block is valid in the protocol version.
pub(super) fn can_read_block(raw: &RawValue, version: ProtocolVersion) -> bool {
    serde_json::from_str::<BlockShape<'_>>(raw.get()).is_ok_and(|block| block.is_valid_in(version))
}

/// Whether the protocol version allows this structured content, which must be an object until the new era.
pub(super) fn allows_structured(is_object: bool, version: ProtocolVersion) -> bool {
    // The oldest versions do not know the member, and ignore it.
    is_object || version == ProtocolVersion::NEW
}

/// Whether `isError`, `structuredContent` or `_meta` is `null`.
fn has_null_member(raw: &RawJson) -> bool {
    let is_null = |name: &str| raw.member(name).is_some_and(|member| member.as_str() == "null");
    is_null("isError") || is_null("structuredContent") || is_null("_meta")
}

impl BlockShape<'_> {
    fn is_valid_in(&self, version: ProtocolVersion) -> bool {
        let is_text = |raw: Option<&RawValue>| raw.is_some_and(|raw| raw.get().starts_with('"'));
        match self.kind.as_ref() {
            "text" => is_text(self.text),
            "image" => is_text(self.data) && is_text(self.mime_type),
            "audio" => version.has_audio() && is_text(self.data) && is_text(self.mime_type),
            "resource_link" => version.has_resource_links() && is_text(self.uri) && is_text(self.name),
            "resource" => self.resource.is_some_and(|raw| {
                let contents: Result<EmbeddedResourceShape<'_>, _> = serde_json::from_str(raw.get());
                contents.is_ok_and(|it| is_text(it.uri) && (is_text(it.text) || is_text(it.blob)))
            }),
            _ => false,
        }
    }
}
