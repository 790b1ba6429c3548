//! The result of a call, in the form of the client's era.
//!
//! A result is forwarded byte for byte, as long as the client can parse it and it has no hidden characters.
//! Only the members that depend on the era change: the result type and the server info. Otherwise the result
//! is rebuilt from the host's outcome, so that a damaged or unknown block is replaced alone, and text that
//! was too long for a model stays in the result store.

pub(super) mod block;
mod result_shape;

use std::borrow::Cow;

use mcparley::model::text::clean_json;
use mcparley::results::{ForwardableOutcome, ScannedResult};
use mcparley::{CallOutcome, ContentBlock};
use mcparley_wire::{JsonPieces, RawJson, RpcError};
use serde_json::json;

use crate::json_edit::{JsonEdit, JsonMembers, ScannedMembers, array_elements};
use crate::response::era::{ResultForm, ResultFreshness};

/// The result of a call for a client. One that is valid and has nothing to change keeps its bytes.
pub(crate) fn forward_outcome(
    outcome: ForwardableOutcome,
    form: &ResultForm<'_>,
) -> Result<JsonPieces, RpcError> {
    if let ForwardableOutcome::Scanned(scanned) = &outcome
        && let Some(pieces) = forward_scanned(scanned, form)
    {
        return Ok(pieces);
    }
    result_for_client(&outcome.into_outcome(), form).map(JsonPieces::from)
}

/// Forwards a result that was scanned and not decoded. `None` if more than the members of the era has to be
/// changed.
fn forward_scanned(scanned: &ScannedResult, form: &ResultForm<'_>) -> Option<JsonPieces> {
    let (scan, version) = (scanned.scan(), form.caller.spoken.version());
    let bytes = scanned.raw().as_bytes();
    let member = |name: &str| scan.member(bytes, name);
    let blocks = scan.blocks?;
    let are_blocks_known = match form.mode.for_model {
        true => blocks.are_only_text() && member("_meta") != Some(b"null"),
        false => (!blocks.audio || version.has_audio()) && (!blocks.link || version.has_resource_links()),
    };
    let is_structured_known = member("structuredContent").is_none_or(|structured| {
        structured.starts_with(b"{") || (form.caller.is_new() && structured != b"null")
    });
    let has_address = form.tag.is_some() && scan.may_have_address;
    if !are_blocks_known || !is_structured_known || has_address {
        return None;
    }
    let text = scanned.raw().as_str();
    let edit = form.edit_members(text, &ScannedMembers(scanned, text), ResultFreshness::None);
    Some(edit.finish_pieces(&scanned.raw().to_bytes()))
}

/// The result of a call for a client.
fn result_for_client(outcome: &CallOutcome, form: &ResultForm<'_>) -> Result<RawJson, RpcError> {
    if !form.mode.for_model && !outcome.is_fitted {
        return pass_result(outcome, form);
    }
    // A note stands for a block that no client can use.
    let has_notes = outcome.content.iter().any(|block| matches!(block, ContentBlock::Note(_)));
    let can_read = || result_shape::can_read_result(&outcome.raw, form.caller.spoken.version());
    if outcome.is_fitted || has_notes || !can_read() {
        return rebuild_result(outcome, form);
    }
    let clean = if form.mode.raw { outcome.raw.as_str().into() } else { clean_json(outcome.raw.as_str()) };
    Ok(RawJson::from_text(&form.finish_result(&clean, ResultFreshness::None)))
}

/// Rebuilds the result from the host's outcome. Parts that the client can read keep their bytes.
fn rebuild_result(outcome: &CallOutcome, form: &ResultForm<'_>) -> Result<RawJson, RpcError> {
    let version = form.caller.spoken.version();
    let mut content = rebuild_blocks(outcome, form);
    let structured = outcome.structured.as_ref().map(RawJson::as_str);
    let taken = structured.filter(|it| result_shape::allows_structured(it.starts_with('{'), version));
    if content.is_empty() || (outcome.unrepeated_structured().is_some() && taken.is_none()) {
        let text = structured.unwrap_or("(no content)");
        content.push(json!({ "type": "text", "text": text }).to_string());
    }
    let mut members = vec![format!("\"content\":[{}]", content.join(","))];
    members.extend(taken.map(|structured| format!("\"structuredContent\":{structured}")));
    // A client that knows the output schema would reject a result without its structured content.
    let is_lost = outcome.is_fitted && taken.is_none() && outcome.raw.member("structuredContent").is_some();
    if outcome.is_error || is_lost {
        members.push("\"isError\":true".to_owned());
    }
    if let Some(meta) = outcome.raw.member("_meta").filter(|meta| meta.as_str().starts_with('{')) {
        members.push(format!("\"_meta\":{}", clean_part(meta.as_str(), form)));
    }
    let text = form.finish_result(&format!("{{{}}}", members.join(",")), ResultFreshness::None);
    Ok(RawJson::from_text(&text))
}

/// The blocks of a rebuilt result as JSON. One that the client can read keeps its bytes, with its annotations and
/// unknown members; a damaged or unknown one becomes text.
fn rebuild_blocks(outcome: &CallOutcome, form: &ResultForm<'_>) -> Vec<String> {
    let version = form.caller.spoken.version();
    let members = JsonMembers::parse(outcome.raw.as_str());
    let written = members.and_then(|members| members.get("content")).map(array_elements).unwrap_or_default();
    // The blocks of a fitted outcome are others than those that the server wrote.
    let is_same_list = !outcome.is_fitted && written.len() == outcome.content.len();
    let rebuilt = outcome.content.iter().enumerate().map(|(place, block)| {
        let raw = written.get(place).filter(|_| is_same_list && !matches!(block, ContentBlock::Note(_)));
        match raw.filter(|raw| result_shape::can_read_block(raw, version)) {
            Some(raw) => clean_part(raw.get(), form).into_owned(),
            None => block::block_to_json(block, version).to_string(),
        }
    });
    rebuilt.collect()
}

fn clean_part<'t>(text: &'t str, form: &ResultForm<'_>) -> Cow<'t, str> {
    if form.mode.removes_hidden() { clean_json(text) } else { text.into() }
}

/// Passes a result on as its server sent it. Only blocks that the client's revision does not have become text.
fn pass_result(outcome: &CallOutcome, form: &ResultForm<'_>) -> Result<RawJson, RpcError> {
    let text = if form.mode.removes_hidden() {
        clean_json(outcome.raw.as_str())
    } else {
        outcome.raw.as_str().into()
    };
    let Some(members) = JsonMembers::parse(&text) else { return rebuild_result(outcome, form) };
    let (version, is_new) = (form.caller.spoken.version(), form.caller.is_new());
    let mut edit = JsonEdit::new(&text);
    let structured = members.get("structuredContent").filter(|it| !is_new && !it.get().starts_with('{'));
    let content = members.get("content").filter(|content| content.get().starts_with('['));
    if structured.is_some() {
        edit.remove_members(&text, &members, |name| name == "structuredContent");
    }
    match (content, structured) {
        (Some(content), Some(structured)) if array_elements(content).is_empty() => {
            let block = json!([{ "type": "text", "text": structured.get() }]);
            edit.replace(content, block.to_string());
        }
        (Some(content), _) => block::replace_unknown_blocks(&mut edit, content, version),
        (None, _) if members.get("content").is_none() => {
            edit.insert_first(&text, &members, r#""content":[]"#);
        }
        (None, _) => {}
    }
    let text = form.finish_result(&edit.finish(), ResultFreshness::None);
    Ok(RawJson::from_text(&text))
}

#[cfg(test)]
mod tests;
