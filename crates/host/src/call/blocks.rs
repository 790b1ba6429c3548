//! Content that is no tool's: prompts and resources are made of the same blocks as results (R1, N7).

use mcparley_wire::RawJson;
use serde::Serialize;
use serde_json::value::RawValue;

use super::outcome::{Block, Outcome};
use super::shape::shape;

/// The blocks that these pieces of content stand for: clean, and a note for each that cannot be used.
pub(crate) fn blocks(content: &[&RawValue]) -> Vec<Block> {
    shaped(&Answer { content }).map(|outcome| outcome.content).unwrap_or_default()
}

/// The contents of a resource as the outcome of a call: they look like the resource inside a block.
pub(crate) fn resource_outcome(contents: &[RawJson]) -> Option<Outcome> {
    let part = |raw| Embedded { kind: "resource", resource: raw };
    let content: Vec<Embedded<'_>> = contents.iter().filter_map(RawJson::as_raw_value).map(part).collect();
    shaped(&Answer { content: &content })
}

/// Content, written as the result of a call would have it.
#[derive(Serialize)]
struct Answer<'a, T> {
    content: &'a [T],
}

/// The contents of a resource, written as a block.
#[derive(Serialize)]
struct Embedded<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    resource: &'a RawValue,
}

/// Raw JSON can always be written, and a list of it is always content.
fn shaped(answer: &impl Serialize) -> Option<Outcome> {
    shape(RawJson::of(answer).ok()?).ok()
}
