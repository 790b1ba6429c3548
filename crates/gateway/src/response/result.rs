//! The result of a call, in the form of the client's era.
//!
//! A result is forwarded byte for byte, as long as the client can parse it and it has no hidden characters.
//! Only the members that depend on the era change: the result type and the server info. Otherwise the result
//! is rebuilt from the host's outcome, so that a damaged or unknown block is replaced alone, and text that
//! was too long for a model stays in the result store.

pub(super) mod block;
mod result_shape;

use mcparley::model::text::clean_json;
use mcparley::results::{ForwardableOutcome, ScannedResult};
use mcparley::{CallOutcome, ContentBlock};
use mcparley_wire::{JsonPieces, RawJson, RpcError};
use serde_json::{Value, json};

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

/// Rebuilds the result from the host's outcome.
fn rebuild_result(outcome: &CallOutcome, form: &ResultForm<'_>) -> Result<RawJson, RpcError> {
    let version = form.caller.spoken.version();
    let mut content: Vec<Value> =
        outcome.content.iter().map(|it| block::block_to_json(it, version)).collect();
    let structured = outcome.structured.as_ref().and_then(|structured| structured.decode::<Value>().ok());
    let taken = structured.as_ref().filter(|it| result_shape::allows_structured(it.is_object(), version));
    if content.is_empty() || (outcome.unrepeated_structured().is_some() && taken.is_none()) {
        let text = outcome.structured.as_ref().map_or("(no content)", RawJson::as_str);
        content.push(json!({ "type": "text", "text": text }));
    }
    let mut result = json!({ "content": content });
    if let Some(structured) = taken {
        result["structuredContent"] = structured.clone();
    }
    // A client that knows the output schema would reject a result without its structured content.
    let is_lost = outcome.is_fitted && taken.is_none() && outcome.raw.member("structuredContent").is_some();
    if outcome.is_error || is_lost {
        result["isError"] = json!(true);
    }
    if let Some(meta) = outcome.raw.member("_meta").filter(|meta| meta.as_str().starts_with('{')) {
        result["_meta"] = meta.decode().unwrap_or_else(|_| json!({}));
    }
    let text = form.finish_result(&result.to_string(), ResultFreshness::None);
    Ok(RawJson::from_text(&text))
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
