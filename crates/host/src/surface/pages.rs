//! One list with all its pages, bounded in every direction (F64).

use std::collections::HashSet;
use std::fmt;

use mcparley_model::limits::CURSOR_BYTES;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Damage, Failure, Params, RawJson, Session};
use tokio::time::Instant;

use super::{Gap, Limits, Why};

/// Why a list was not asked for to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A page was announced that had been there already.
    Repeated,
    /// There were too many pages.
    Pages(usize),
    /// There were too many entries.
    Items(usize),
    /// The pointer to the next page is larger than any that means something.
    Cursor(usize),
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated => f.write_str("the server announced a page again that it had given already"),
            Self::Pages(limit) => write!(f, "the server announced more than {limit} pages"),
            Self::Items(limit) => write!(f, "the server listed more than {limit} entries"),
            Self::Cursor(limit) => write!(f, "the server's page pointer is larger than {limit} bytes"),
        }
    }
}

/// A list as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// What a server offers that has it.
    pub(super) capability: &'static str,
    pub(super) method: &'static str,
    /// Where the entries stand in the answer.
    pub(super) member: &'static str,
}

/// What a list gave.
pub(super) struct List {
    pub(super) items: Vec<RawJson>,
    pub(super) gap: Option<Gap>,
}

/// Fetches a list; nothing when the server does not offer it.
pub(super) async fn fetch(session: &Session, asked: Asked, limits: Limits) -> List {
    let mut items = Vec::new();
    if !session.about().offers(asked.capability) {
        return List { items, gap: None };
    }
    let deadline = Instant::now() + limits.time;
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let why = loop {
        let page = match page(session, asked, cursor.as_deref(), deadline).await {
            Ok(page) => page,
            Err(failure) => break Some(Why::Failed(failure)),
        };
        let room = limits.items.saturating_sub(items.len());
        let is_full = page.items.len() > room;
        items.extend(page.items.into_iter().take(room));
        if is_full {
            break Some(Why::Cut(Cut::Items(limits.items)));
        }
        let Some(next) = page.next else { break None };
        if next.len() > CURSOR_BYTES {
            break Some(Why::Cut(Cut::Cursor(CURSOR_BYTES)));
        }
        if !seen.insert(next.clone()) {
            break Some(Why::Cut(Cut::Repeated));
        }
        if seen.len() >= limits.pages {
            break Some(Why::Cut(Cut::Pages(limits.pages)));
        }
        cursor = Some(next);
    };
    List { items, gap: why.map(|why| Gap { method: asked.method, why }) }
}

struct Page {
    items: Vec<RawJson>,
    next: Option<String>,
}

async fn page(
    session: &Session,
    asked: Asked,
    cursor: Option<&str>,
    deadline: Instant,
) -> Result<Page, Failure> {
    let params = match cursor {
        Some(cursor) => Params::new().with("cursor", &cursor),
        None => Params::new(),
    };
    let limit = Some(deadline.saturating_duration_since(Instant::now()));
    let answer = session.call(asked.method, params, CallOptions { limit, ..CallOptions::default() }).await?;
    let items = answer.elements(asked.member).ok_or(Failure::Damaged(Damage::Shape))?;
    // A cursor that is no text points nowhere.
    let next = answer.member("nextCursor").and_then(|cursor| cursor.decode::<String>().ok());
    Ok(Page { items, next })
}
