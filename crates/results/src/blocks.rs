//! Content blocks of prompts and resources, which have the same form as those of tool results.

use mcparley_json::RawJson;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::outcome::{CallOutcome, ContentBlock};
use crate::shape::shape_outcome;

/// Parses the content blocks of a prompt or resource: cleaned, with a note in place of each unusable block.
#[must_use]
pub fn read_blocks(content: &[&RawValue]) -> Vec<ContentBlock> {
    shape_content(&ContentEnvelope { content }).map(|outcome| outcome.content).unwrap_or_default()
}

/// Converts the contents of a resource to a call outcome, as if each were embedded in a resource block.
#[must_use]
pub fn resource_outcome(contents: &[RawJson]) -> Option<CallOutcome> {
    let part = |raw| EmbeddedResource { kind: "resource", resource: raw };
    let content: Vec<EmbeddedResource<'_>> =
        contents.iter().filter_map(RawJson::as_raw_value).map(part).collect();
    shape_content(&ContentEnvelope { content: &content })
}

/// A content list in the JSON form of a tool result.
#[derive(Serialize)]
struct ContentEnvelope<'a, T> {
    content: &'a [T],
}

/// The contents of a resource in the JSON form of a content block.
#[derive(Serialize)]
struct EmbeddedResource<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    resource: &'a RawValue,
}

/// Shapes content written as a tool result. It does not fail: raw JSON can always be serialized, and a list
/// of it is always valid content.
fn shape_content(answer: &impl Serialize) -> Option<CallOutcome> {
    shape_outcome(RawJson::from_value(answer).ok()?).ok()
}
