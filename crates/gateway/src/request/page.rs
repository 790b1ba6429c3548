//! Pagination of the tool list: one page, and the cursor of the next.
//!
//! A cursor names the last tool of its page, so that tools that appear or vanish between two pages neither
//! hide a tool nor repeat one.

use mcparley::model::limits::{SERVED_LIST_FRESH, SERVED_PAGE_BYTES, SERVED_PAGE_TOOLS};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client_abilities::Caller;
use crate::response::handshake::{milliseconds, result_meta};
use crate::response::item::ToolListItem;

/// A cursor: the end of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The number of tools up to the end of the page.
    at: usize,
    /// The name of the last one.
    last: String,
}

impl Cursor {
    /// Parses the cursor of a request.
    pub(super) fn parse(cursor: &RawJson) -> Result<Self, RpcError> {
        let text = cursor.decode::<String>().ok();
        let parts = text.as_deref().and_then(|text| text.split_once(':'));
        let read = parts.and_then(|(at, last)| Some(Self { at: at.parse().ok()?, last: last.to_owned() }));
        read.ok_or_else(|| RpcError::new(INVALID_PARAMS, "unknown `cursor`"))
    }

    /// The index at which the next page begins.
    fn next(&self, items: &[ToolListItem]) -> usize {
        match items.iter().position(|item| item.name() == self.last) {
            Some(place) => place + 1,
            // The named tool is gone: start one earlier, since the tools after it may have moved up by one.
            None => self.at.saturating_sub(1).min(items.len()),
        }
    }
}

/// One page of a tool list.
pub(super) struct ToolPage {
    tools: Vec<Box<RawValue>>,
    next: Option<String>,
}

/// A page in the form of the protocol.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListToolsResult<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    tools: &'p [Box<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

impl ToolPage {
    /// The page after a cursor, or the first one.
    pub(super) fn after_cursor(items: &[ToolListItem], cursor: Option<&Cursor>) -> Self {
        let begin = cursor.map_or(0, |cursor| cursor.next(items));
        let (mut tools, mut bytes, mut end) = (Vec::new(), 0, begin);
        for item in items.get(begin..).unwrap_or_default() {
            let Some(tool) = item.to_json() else { continue };
            let is_full = tools.len() >= SERVED_PAGE_TOOLS || bytes + tool.get().len() > SERVED_PAGE_BYTES;
            if is_full && !tools.is_empty() {
                break;
            }
            bytes += tool.get().len();
            tools.push(tool);
            end += 1;
        }
        let last = items.get(end.wrapping_sub(1)).filter(|_| end < items.len());
        Self { tools, next: last.map(|last| format!("{end}:{}", last.name())) }
    }

    /// The result of `tools/list`, in the form of the client's era.
    pub(super) fn to_result(&self, caller: &Caller) -> ListToolsResult<'_> {
        let new = caller.is_new();
        ListToolsResult {
            result_type: new.then_some("complete"),
            tools: &self.tools,
            next_cursor: self.next.as_deref(),
            ttl_ms: new.then(|| milliseconds(SERVED_LIST_FRESH)),
            cache_scope: new.then_some("private"),
            meta: new.then(result_meta),
        }
    }
}
