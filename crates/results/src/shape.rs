//! Parses the server's answer to a call into a [`CallOutcome`]: text cleaned, damaged blocks replaced by
//! notes.
//!
//! A valid answer is decoded in one pass that borrows its strings where possible. Only an answer that does
//! not decode is parsed again, block by block, so that one bad block does not cost the others.

mod block;
mod block_fields;
mod fast_path;
mod surrogate;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use mcparley_json::{RawJson, UnexpectedShape};
use mcparley_model::limits::JSON_DEPTH;
use mcparley_model::text::{clean_json, is_deeper_than};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::outcome::CallOutcome;
use block_fields::BlockFields;

pub use surrogate::mend as mend_surrogates;

/// Parses the outcome of a call from the server's answer.
///
/// # Errors
/// [`UnexpectedShape`] if it is not an answer to a call. A damaged block is replaced by a note.
pub fn shape_outcome(answer: RawJson) -> Result<CallOutcome, UnexpectedShape> {
    let answer = surrogate::mend(answer);
    if let Some(text) = fast_path::single_text(answer.as_bytes()) {
        let content = vec![block::text_block(text)];
        return Ok(CallOutcome { content, ..CallOutcome::from_raw(answer) });
    }
    let read =
        RawToolResult::parse(&answer).or_else(|| RawToolResult::salvage(&answer)).ok_or(UnexpectedShape)?;
    let RawToolResult { content, structured_content, tool_result, is_error } = read;
    let content = content.unwrap_or_default().into_iter().map(block::block_from_fields).collect();
    let structured =
        structured_content.or(tool_result).map(|raw| clean_structured(&answer, raw)).transpose()?;
    // A server that sends any value except `false` here means to report a failure.
    let is_error = is_error.is_some_and(|raw| raw.get() != "false");
    Ok(CallOutcome { content, structured, is_error, ..CallOutcome::from_raw(answer) })
}

impl TryFrom<RawJson> for CallOutcome {
    type Error = UnexpectedShape;

    /// Parses the answer to a `tools/call` request.
    ///
    /// # Errors
    /// [`UnexpectedShape`] if it is not such an answer. A damaged block is replaced by a note.
    fn try_from(answer: RawJson) -> Result<Self, UnexpectedShape> {
        shape_outcome(answer)
    }
}

/// The members of a tool result that have a meaning here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawToolResult<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<BlockFields<'a>>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    /// The member that servers of an early draft of 2024-11-05 send instead of content.
    #[serde(borrow, default)]
    tool_result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
}

impl<'a> RawToolResult<'a> {
    /// Parses a valid answer in one pass.
    fn parse(answer: &'a RawJson) -> Option<Self> {
        // Serde would also accept an array of the members.
        let is_object = answer.as_bytes().trim_ascii_start().first() == Some(&b'{');
        if is_object { serde_json::from_slice(answer.as_bytes()).ok() } else { None }
    }

    /// Parses the usable parts of a damaged answer.
    fn salvage(answer: &'a RawJson) -> Option<Self> {
        let members: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_slice(answer.as_bytes()).ok()?;
        let member = |name: &str| members.get(name).copied().filter(|raw| raw.get() != "null");
        let (structured_content, tool_result) = (member("structuredContent"), member("toolResult"));
        let content = match member("content").map(|raw| serde_json::from_str::<Vec<&'a RawValue>>(raw.get()))
        {
            Some(Ok(blocks)) => Some(blocks.into_iter().map(BlockFields::salvage).collect()),
            Some(Err(_)) if structured_content.or(tool_result).is_none() => return None,
            Some(Err(_)) | None => None,
        };
        Some(Self { content, structured_content, tool_result, is_error: member("isError") })
    }
}

/// Cleans the structured content. It shares the answer's bytes unless hidden characters had to be removed.
fn clean_structured(answer: &RawJson, raw: &RawValue) -> Result<RawJson, UnexpectedShape> {
    // Later readers may recurse, so the depth is limited against stack overflow.
    if is_deeper_than(JSON_DEPTH, raw.get()) {
        return Err(UnexpectedShape);
    }
    match clean_json(raw.get()) {
        Cow::Borrowed(_) => Ok(answer.share_slice(raw)),
        Cow::Owned(cleaned) => RawValue::from_string(cleaned)
            .and_then(|cleaned| RawJson::from_value(&cleaned))
            .map_err(|_| UnexpectedShape),
    }
}
