//! The tools a client is shown, page by page (N11).
//!
//! What does not fit the budget is left out until a search has found it (N10). What was shown once stays where it was. A cursor names the last tool of its page, so that what
//! comes and goes between two pages neither hides a tool nor shows one twice.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mcparley::model::limits::{
    FIRST_LIST_TIME, FOUND_TOOLS, SERVED_LIST_FRESH, SERVED_PAGE_BYTES, SERVED_PAGE_TOOLS,
};
use mcparley::model::tool::Audience;
use mcparley::{Catalog, Server, Status};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Notify, OnceCell, watch};

use crate::caller::Caller;
use crate::greeting::{meta, milliseconds};
use crate::item::{CALL_TOOL, Item};
use crate::session::{Session, written};

/// What one client has been shown.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The first list waits for servers that are on their way; the others do not.
    first: OnceCell<()>,
    shown: Mutex<Shown>,
    /// Whether there has been a list.
    begun: watch::Sender<bool>,
    news: Notify,
}

/// The list that a client was given last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// How many lists it was given.
    pub(crate) count: u64,
    pub(crate) items: Vec<Item>,
    /// What it has found by searching, the newest last.
    found: Vec<String>,
    /// Whether it is shown tools for apps too.
    has_apps: bool,
}

impl Listing {
    pub(crate) fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client has found these tools, so that they belong to its list from now on.
    pub(crate) fn found(&self, names: impl IntoIterator<Item = String>) {
        let mut shown = self.shown();
        for name in names {
            if !shown.found.contains(&name) && shown.found.len() < FOUND_TOOLS {
                shown.found.push(name);
            }
        }
        self.news.notify_one();
    }

    /// Waits until the client has asked for its list. Nobody looks at the catalogue before: what is looked at stays in its
    /// order, and servers come in any.
    pub(crate) async fn begun(&self) {
        let mut begun = self.begun.subscribe();
        // Its sender lives as long as this, so that there is nothing else to hear.
        let _begun = begun.wait_for(|begun| *begun).await;
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
        self.await_first_servers().await;
        self.shared.listing.shown().has_apps = caller.has_apps;
        let items = self.items(&self.host().catalog());
        let page = Page::of(&items, cursor.as_ref());
        let mut shown = self.shared.listing.shown();
        shown.count += 1;
        shown.items = items;
        drop(shown);
        self.shared.listing.begun.send_replace(true);
        written(&page.in_words_of(caller))
    }

    /// Waits for the servers that are on their way when the first client comes, once and for a limited time.
    async fn await_first_servers(&self) {
        let wait = async {
            // Whether all came in time or not: the list is what there is.
            let _ready = self.host().ready(FIRST_LIST_TIME).await;
        };
        self.shared.listing.first.get_or_init(|| wait).await;
    }

    /// Waits, as for the first list, while a server is on its way of which nothing is remembered: its instructions would
    /// be missing from the greeting, and a client is greeted once.
    pub(crate) async fn await_unknown_servers(&self) {
        let is_unknown = |server: &Server| {
            let surface = &server.state.surface;
            matches!(server.state.status, Status::Pending { .. })
                && surface.tools.is_empty()
                && surface.instructions.is_none()
        };
        if self.host().servers().iter().any(is_unknown) {
            self.await_first_servers().await;
        }
    }

    /// What this client is shown of a catalogue.
    pub(crate) fn items(&self, catalog: &Catalog) -> Vec<Item> {
        let shown = self.shared.listing.shown().clone();
        let offer = catalog.offer(&self.shared.gateway.budget);
        // A first session with slow servers has a way to their tools, whether or not its client hears of changes.
        let more_to_come = self.host().has_unknown_servers();
        let offer = if more_to_come { offer.with_search() } else { offer };
        let offer = offer.after(shown.items.iter().map(Item::name)).with_found(&shown.found);
        let apps = if shown.has_apps { offer.for_apps } else { Vec::new() };
        let mut items: Vec<Item> = offer.listed.into_iter().chain(apps).map(Item::Tool).collect();
        let place = shown.items.iter().position(|item| matches!(item, Item::CallTool));
        let is_needed = place.is_some() || more_to_come || !offer.deferred.is_empty();
        if is_needed && catalog.get(CALL_TOOL).is_none() {
            items.insert(place.unwrap_or(items.len()).min(items.len()), Item::CallTool);
        }
        items
    }

    /// Whether a tool is not for this client's model, nor for apps that it would show.
    pub(crate) fn is_out_of_sight(&self, name: &str, caller: &Caller) -> bool {
        let catalog = self.host().catalog();
        catalog.get(name).is_some_and(|entry| match entry.tool.audience {
            Audience::Model => false,
            Audience::Apps => !caller.has_apps,
            Audience::Direct => true,
        })
    }

    /// Whether a tool is never shown, because a rule denies it whatever its arguments are (B94).
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        let offer = self.host().catalog().offer(&self.shared.gateway.budget);
        offer.denied.iter().any(|entry| entry.name.as_str() == name)
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
    fn next(&self, items: &[Item]) -> usize {
        match items.iter().position(|item| item.name() == self.last) {
            Some(place) => place + 1,
            // It is gone; what stood behind it has moved up by one, or nothing has.
            None => self.at.saturating_sub(1).min(items.len()),
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
    fn of(items: &[Item], cursor: Option<&Cursor>) -> Self {
        let begin = cursor.map_or(0, |cursor| cursor.next(items));
        let (mut tools, mut bytes, mut end) = (Vec::new(), 0, begin);
        for item in items.get(begin..).unwrap_or_default() {
            let Some(tool) = item.written() else { continue };
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
