//! The tools a client is shown, page by page (N11).
//!
//! The order is the catalogue's, which never moves what was shown. A cursor names the last tool of its page, so that what
//! comes and goes between two pages neither hides a tool nor shows one twice.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::{FIRST_LIST_TIME, SERVED_LIST_FRESH, SERVED_PAGE_BYTES, SERVED_PAGE_TOOLS};
use mcparley::{Catalog, Entry};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Notify, OnceCell};

use crate::caller::Caller;
use crate::greeting::{meta, milliseconds};
use crate::session::{Session, written};
use crate::tool;

/// What one client has been shown.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The first list waits for servers that are on their way; the others do not.
    first: OnceCell<()>,
    shown: Mutex<Shown>,
    news: Notify,
}

/// The list that a client was given last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// How many lists it was given.
    pub(crate) count: u64,
    pub(crate) entries: Vec<Arc<Entry>>,
}

impl Listing {
    pub(crate) fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the client's own doing has changed its list.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }
}

impl Session {
    /// Answers `tools/list`.
    pub(crate) async fn list(&self, caller: &Caller, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let cursor = params.and_then(|params| params.member("cursor"));
        let cursor = cursor.filter(|cursor| cursor.as_str() != "null").map(|cursor| Cursor::read(&cursor));
        let cursor = cursor.transpose()?;
        let wait = async {
            // Whether all came in time or not: the list is what there is.
            let _ready = self.host().ready(FIRST_LIST_TIME).await;
        };
        self.shared.listing.first.get_or_init(|| wait).await;
        let entries = self.entries(&self.host().catalog());
        let page = Page::of(&entries, cursor.as_ref());
        let mut shown = self.shared.listing.shown();
        shown.count += 1;
        shown.entries = entries;
        drop(shown);
        written(&page.in_words_of(caller))
    }

    /// What this client is shown of a catalogue.
    pub(crate) fn entries(&self, catalog: &Catalog) -> Vec<Arc<Entry>> {
        catalog.iter().cloned().collect()
    }
}

/// Where a page ends.
#[derive(Debug, PartialEq, Eq)]
struct Cursor {
    /// How many tools came before.
    at: usize,
    /// The last of them.
    last: String,
}

impl Cursor {
    fn read(cursor: &RawJson) -> Result<Self, RpcError> {
        let text = cursor.decode::<String>().ok();
        let parts = text.as_deref().and_then(|text| text.split_once(':'));
        let read = parts.and_then(|(at, last)| Some(Self { at: at.parse().ok()?, last: last.to_owned() }));
        read.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`cursor` is none that was given here"))
    }

    /// Where the next page begins.
    fn next(&self, entries: &[Arc<Entry>]) -> usize {
        let is_last = |entry: &Arc<Entry>| entry.name.as_str() == self.last;
        match entries.iter().position(is_last) {
            Some(place) => place + 1,
            // It is gone; what stood behind it has moved up by one, or nothing has.
            None => self.at.saturating_sub(1).min(entries.len()),
        }
    }
}

/// Some of the tools.
struct Page {
    tools: Vec<Box<RawValue>>,
    next: Option<String>,
}

/// A page as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'p> {
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

impl Page {
    fn of(entries: &[Arc<Entry>], cursor: Option<&Cursor>) -> Self {
        let begin = cursor.map_or(0, |cursor| cursor.next(entries));
        let (mut tools, mut bytes, mut end) = (Vec::new(), 0, begin);
        for entry in entries.get(begin..).unwrap_or_default() {
            let Some(tool) = tool::written(entry) else { continue };
            let is_full = tools.len() >= SERVED_PAGE_TOOLS || bytes + tool.get().len() > SERVED_PAGE_BYTES;
            if is_full && !tools.is_empty() {
                break;
            }
            bytes += tool.get().len();
            tools.push(tool);
            end += 1;
        }
        let last = entries.get(end.wrapping_sub(1)).filter(|_| end < entries.len());
        Self { tools, next: last.map(|last| format!("{end}:{}", last.name)) }
    }

    fn in_words_of(&self, caller: &Caller) -> Listed<'_> {
        let new = caller.is_new();
        Listed {
            result_type: new.then_some("complete"),
            tools: &self.tools,
            next_cursor: self.next.as_deref(),
            ttl_ms: new.then(|| milliseconds(SERVED_LIST_FRESH)),
            cache_scope: new.then_some("private"),
            meta: new.then(meta),
        }
    }
}
