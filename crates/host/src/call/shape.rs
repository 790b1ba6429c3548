//! Makes an [`Outcome`] of the answer to a call: clean, and whole but for what is damaged (R1, N7).
//!
//! A good answer is decoded in one pass that borrows what it can. Only one that does not decode is looked at
//! again, block by block, so that one bad block costs nothing but itself.

mod block;
mod piece;
mod plain;
mod surrogate;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use mcparley_model::limits::JSON_DEPTH;
use mcparley_model::text::{clean_json, is_deeper_than};
use mcparley_wire::{Damage, Failure, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outcome::Outcome;
use piece::Piece;

pub(crate) use surrogate::mend as mend_surrogates;

/// What a call gave.
pub(crate) fn shape(answer: RawJson) -> Result<Outcome, Failure> {
    let answer = surrogate::mend(answer);
    if let Some(text) = plain::text(answer.as_bytes()) {
        let content = vec![block::text(text)];
        return Ok(Outcome { content, ..Outcome::of(answer) });
    }
    let read =
        Answer::read(&answer).or_else(|| Answer::salvage(&answer)).ok_or(Failure::Damaged(Damage::Shape))?;
    let Answer { content, structured_content, tool_result, is_error } = read;
    let content = content.unwrap_or_default().into_iter().map(block::of).collect();
    let structured = structured_content.or(tool_result).map(|raw| structured(&answer, raw)).transpose()?;
    // Whoever writes anything but `false` there wants to say that something went wrong.
    let is_error = is_error.is_some_and(|raw| raw.get() != "false");
    Ok(Outcome { content, structured, is_error, ..Outcome::of(answer) })
}

/// The members of an answer that mean something.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<Piece<'a>>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    /// What servers of a draft of 2024-11-05 give instead of content.
    #[serde(borrow, default)]
    tool_result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
}

impl<'a> Answer<'a> {
    /// Reads a good answer.
    fn read(answer: &'a RawJson) -> Option<Self> {
        // A struct would also be read from an array of its members.
        let is_object = answer.as_bytes().trim_ascii_start().first() == Some(&b'{');
        if is_object { serde_json::from_slice(answer.as_bytes()).ok() } else { None }
    }

    /// Reads an answer of which something is damaged, as far as there is something to read.
    fn salvage(answer: &'a RawJson) -> Option<Self> {
        let members: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_slice(answer.as_bytes()).ok()?;
        let member = |name: &str| members.get(name).copied().filter(|raw| raw.get() != "null");
        let (structured_content, tool_result) = (member("structuredContent"), member("toolResult"));
        let content = match member("content").map(|raw| serde_json::from_str::<Vec<&'a RawValue>>(raw.get()))
        {
            Some(Ok(blocks)) => Some(blocks.into_iter().map(Piece::salvage).collect()),
            Some(Err(_)) if structured_content.or(tool_result).is_none() => return None,
            Some(Err(_)) | None => None,
        };
        Some(Self { content, structured_content, tool_result, is_error: member("isError") })
    }
}

/// The result as data, sharing the answer's bytes unless something was hidden in it.
fn structured(answer: &RawJson, raw: &RawValue) -> Result<RawJson, Failure> {
    // Who reads it next may recurse.
    if is_deeper_than(JSON_DEPTH, raw.get()) {
        return Err(Failure::Damaged(Damage::Shape));
    }
    match clean_json(raw.get()) {
        Cow::Borrowed(_) => Ok(answer.part(raw)),
        Cow::Owned(cleaned) => RawValue::from_string(cleaned)
            .and_then(|cleaned| RawJson::of(&cleaned))
            .map_err(|_| Failure::Damaged(Damage::Shape)),
    }
}
