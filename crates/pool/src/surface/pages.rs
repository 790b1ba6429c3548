//! Fetches one list with all its pages, bounded in every direction.

use std::collections::HashSet;
use std::fmt;

use mcparley_model::limits::CURSOR_BYTES;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{AgreedProtocol, Damage, Failure, ProtocolSession, RawJson, RequestParams};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{GapReason, ListGap, ListLimits};

/// The limit at which a list was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListCut {
    /// A cursor repeated: the list would never end.
    Repeated,
    /// Too many pages.
    Pages(usize),
    /// Too many items.
    Items(usize),
    /// Too many bytes.
    Bytes(usize),
    /// The cursor of the next page is too long.
    Cursor(usize),
}

impl fmt::Display for ListCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated => f.write_str("the server repeated a page"),
            Self::Pages(limit) => write!(f, "the server announced more than {limit} pages"),
            Self::Items(limit) => write!(f, "the server listed more than {limit} entries"),
            Self::Bytes(limit) => write!(f, "the server's list is longer than {limit} bytes"),
            Self::Cursor(limit) => write!(f, "the server's cursor is longer than {limit} bytes"),
        }
    }
}

/// The request for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListRequest {
    /// The capability of servers that have the list.
    pub(super) capability: &'static str,
    pub(super) method: &'static str,
    /// The member of the answer with the items.
    pub(super) member: &'static str,
}

/// A fetched list, possibly with a gap.
pub(super) struct FetchedList {
    pub(super) items: Vec<RawJson>,
    /// The hints of the first page, if the server is of the new era.
    pub(super) hints: Option<RawJson>,
    pub(super) gap: Option<ListGap>,
}

/// Fetches a list page by page; empty if the server does not have the capability.
pub(super) async fn fetch_list(
    session: &ProtocolSession,
    asked: ListRequest,
    limits: ListLimits,
) -> FetchedList {
    let (mut items, mut hints) = (Vec::new(), None);
    if !session.server_description().has_capability(asked.capability) {
        return FetchedList { items, hints, gap: None };
    }
    let deadline = Instant::now() + limits.time;
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    let why = loop {
        let page = match fetch_page(session, asked, cursor.as_deref(), deadline).await {
            Ok(page) => page,
            Err(failure) => break Some(GapReason::Failed(failure)),
        };
        hints = hints.or(page.hints);
        let room = limits.items.saturating_sub(items.len());
        let is_full = page.items.len() > room;
        let fits = |item: &RawJson| {
            bytes += item.as_bytes().len();
            bytes <= limits.bytes
        };
        items.extend(page.items.into_iter().take(room).take_while(fits));
        if is_full {
            break Some(GapReason::Cut(ListCut::Items(limits.items)));
        }
        if bytes > limits.bytes {
            break Some(GapReason::Cut(ListCut::Bytes(limits.bytes)));
        }
        let Some(next) = page.next else { break None };
        if next.len() > CURSOR_BYTES {
            break Some(GapReason::Cut(ListCut::Cursor(CURSOR_BYTES)));
        }
        if !seen.insert(next.clone()) {
            break Some(GapReason::Cut(ListCut::Repeated));
        }
        if seen.len() >= limits.pages {
            break Some(GapReason::Cut(ListCut::Pages(limits.pages)));
        }
        cursor = Some(next);
    };
    FetchedList { items, hints, gap: why.map(|why| ListGap { method: asked.method, reason: why }) }
}

struct ListPage {
    items: Vec<RawJson>,
    hints: Option<RawJson>,
    next: Option<String>,
}

async fn fetch_page(
    session: &ProtocolSession,
    asked: ListRequest,
    cursor: Option<&str>,
    deadline: Instant,
) -> Result<ListPage, Failure> {
    let params = match cursor {
        Some(cursor) => RequestParams::new().with_member("cursor", &cursor),
        None => RequestParams::new(),
    };
    let limit = Some(deadline.saturating_duration_since(Instant::now()));
    let answer =
        session.call(asked.method, params, PeerCallOptions { limit, ..PeerCallOptions::default() }).await?;
    let items = answer.member_elements(asked.member).ok_or(Failure::Damaged(Damage::Shape))?;
    // A cursor that is not a string counts as missing.
    let next = answer.member("nextCursor").and_then(|cursor| cursor.decode::<String>().ok());
    let hints = parse_hints(&answer).filter(|_| session.protocol() == AgreedProtocol::New);
    Ok(ListPage { items, hints, next })
}

/// The members of a page that say how long its list is good for and whose it is.
fn parse_hints(page: &RawJson) -> Option<RawJson> {
    #[derive(Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ListHints {
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_scope: Option<Box<RawValue>>,
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        meta: Option<Box<RawValue>>,
    }
    RawJson::from_value(&page.decode::<ListHints>().ok()?).ok()
}
