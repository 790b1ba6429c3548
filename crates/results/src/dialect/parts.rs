//! Splits a result into texts and media, as all APIs need them.

use std::borrow::Cow;

use super::media::{Media, MediaSupport};
use super::{ModelCallAnswer, ModelCallResult};
use crate::outcome::{CallOutcome, ContentBlock, ResourceBody};

/// A part of a result: text, or media that the API accepts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ResultPart<'r> {
    Text(Cow<'r, str>),
    Media(Media<'r>),
}

/// The parts of an answer, in order. Texts are never blank, and there is at least one part.
pub(super) fn result_parts<'r>(result: &ModelCallResult<'r>, support: MediaSupport) -> Vec<ResultPart<'r>> {
    let parts = match result.answer {
        ModelCallAnswer::Outcome(outcome) => outcome_parts(outcome, support),
        ModelCallAnswer::Error(message) => text_part(message).into_iter().collect(),
    };
    if parts.is_empty() { vec![ResultPart::Text("(no content)".into())] } else { parts }
}

/// The parts of content blocks, which a message of the user may have too.
pub(super) fn block_parts(blocks: &[ContentBlock], support: MediaSupport) -> Vec<ResultPart<'_>> {
    blocks.iter().flat_map(|block| one_block(block, support)).collect()
}

fn outcome_parts(outcome: &CallOutcome, support: MediaSupport) -> Vec<ResultPart<'_>> {
    let mut parts = block_parts(&outcome.content, support);
    if let Some(structured) = outcome.unrepeated_structured() {
        parts.extend(text_part(structured.as_str()));
    }
    parts
}

fn one_block(block: &ContentBlock, support: MediaSupport) -> Vec<ResultPart<'_>> {
    match block {
        ContentBlock::Text(text) => text_part(text).into_iter().collect(),
        ContentBlock::Image { mime, data } | ContentBlock::Audio { mime, data } => {
            media_part(mime, data, support).map_or_else(|| vec![described(block)], |part| vec![part])
        }
        ContentBlock::Resource { uri, mime: Some(mime), body: ResourceBody::Blob(data) } => {
            match media_part(mime, data, support) {
                Some(part) => vec![ResultPart::Text(format!("[resource {uri}]").into()), part],
                None => vec![described(block)],
            }
        }
        ContentBlock::Resource { .. } | ContentBlock::Link { .. } | ContentBlock::Note(_) => {
            vec![described(block)]
        }
    }
}

fn media_part<'r>(mime: &'r str, data: &'r str, support: MediaSupport) -> Option<ResultPart<'r>> {
    Media::new(mime, data, support).map(ResultPart::Media)
}

/// The block as text, in the words of [`CallOutcome::to_text`].
fn described(block: &ContentBlock) -> ResultPart<'_> {
    ResultPart::Text(block.to_text().into())
}

/// Text, unless it is blank: APIs reject blank texts.
fn text_part(text: &str) -> Option<ResultPart<'_>> {
    (!text.trim().is_empty()).then_some(ResultPart::Text(Cow::Borrowed(text)))
}
