//! Pages of lists: a slice of the rendered items, and the cursor of the next page.
//!
//! A cursor holds all it needs, so it survives changes of the list and a restart: the kind of the list,
//! a digest of the view, the index behind the page, and a hash of the last item. Items that appear or vanish
//! between two pages neither hide another item nor repeat one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley::model::limits::{SERVED_LIST_FRESH, SERVED_PAGE_BYTES, SERVED_PAGE_TOOLS};
use mcparley::model::time::whole_milliseconds;
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use sha2::{Digest, Sha256};

use crate::json_edit::{JsonMembers, json_string};
use crate::mode::GatewayMode;
use crate::response::era::ResultForm;
use crate::response::handshake::result_meta;
use crate::view::ListKind;

/// The version of the form of cursors.
const CURSOR_VERSION: u8 = 1;

/// The end of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageCursor {
    /// The number of items up to the end of the page.
    index: u32,
    /// A hash of the last item's name.
    last: [u8; 8],
}

/// One item of a list: its name or address, and its JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageItem<'p> {
    pub(crate) key: &'p str,
    pub(crate) json: &'p str,
}

/// A list whose items are looked up one by one, so that a page costs no more than its own items.
pub(crate) struct PagedList<'p> {
    pub(crate) kind: ListKind,
    pub(crate) len: usize,
    /// The hints of the only server, in transparent mode.
    pub(crate) hints: Option<&'p RawJson>,
    /// The item at an index; `None` if it cannot be rendered.
    pub(crate) item: &'p dyn Fn(usize) -> Option<PageItem<'p>>,
}

impl PageCursor {
    /// Parses the cursor of a request, for a list of this kind in this view.
    fn parse(cursor: &RawJson, kind: ListKind, mode: &GatewayMode) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor.decode::<String>().ok()?).ok()?;
        let rest = bytes.strip_prefix(&cursor_head(kind, mode)[..])?;
        let (index, last) = rest.split_first_chunk::<4>()?;
        Some(Self { index: u32::from_le_bytes(*index), last: last.try_into().ok()? })
    }

    fn to_base64(self, kind: ListKind, mode: &GatewayMode) -> String {
        let mut bytes = cursor_head(kind, mode).to_vec();
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(self.last);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The index at which the next page begins: behind the last item, wherever that is now.
    fn next_index(self, list: &PagedList<'_>) -> usize {
        let index = usize::try_from(self.index).unwrap_or(usize::MAX);
        let is_last = |place: usize| (list.item)(place).is_some_and(|item| hash_key(item.key) == self.last);
        if index.checked_sub(1).is_some_and(|last| last < list.len && is_last(last)) {
            return index;
        }
        match (0..list.len).find(|place| is_last(*place)) {
            Some(place) => place + 1,
            // The last item is gone: start one earlier, since the items after it may have moved up by one.
            None => index.saturating_sub(1).min(list.len),
        }
    }
}

fn cursor_head(kind: ListKind, mode: &GatewayMode) -> [u8; 6] {
    let [one, two, three, four] = mode.digest();
    [CURSOR_VERSION, kind as u8, one, two, three, four]
}

fn hash_key(key: &str) -> [u8; 8] {
    let mut hash = [0; 8];
    hash.iter_mut().zip(Sha256::digest(key.as_bytes())).for_each(|(ours, byte)| *ours = byte);
    hash
}

/// The page of a list behind a cursor, or the first one, as a result for the client.
///
/// # Errors
/// When the cursor is not one of this list.
pub(crate) fn build_page(
    list: &PagedList<'_>,
    cursor: Option<&RawJson>,
    (form, is_settled): (&ResultForm<'_>, bool),
) -> Result<RawJson, RpcError> {
    let unknown = || RpcError::new(INVALID_PARAMS, "unknown `cursor`");
    let cursor = cursor.filter(|cursor| cursor.as_str() != "null");
    let cursor = cursor.map(|cursor| PageCursor::parse(cursor, list.kind, form.mode).ok_or_else(unknown));
    let begin = cursor.transpose()?.map_or(0, |cursor| cursor.next_index(list));
    let (mut page, mut bytes, mut end) = (Vec::new(), 0, begin);
    while end < list.len {
        let Some(item) = (list.item)(end) else {
            end += 1;
            continue;
        };
        let is_full = page.len() >= SERVED_PAGE_TOOLS || bytes + item.json.len() > SERVED_PAGE_BYTES;
        if is_full && !page.is_empty() {
            break;
        }
        bytes += item.json.len() + 1;
        page.push(item);
        end += 1;
    }
    let last = page.last().filter(|_| end < list.len);
    let next = last
        .map(|last| PageCursor { index: u32::try_from(end).unwrap_or(u32::MAX), last: hash_key(last.key) });
    let next = next.map(|next| next.to_base64(list.kind, form.mode));
    let text = write_page(list, &page, next.as_deref(), bytes, (form, is_settled));
    Ok(RawJson::from_bytes(text.into()))
}

fn write_page(
    list: &PagedList<'_>,
    page: &[PageItem<'_>],
    next: Option<&str>,
    bytes: usize,
    (form, is_settled): (&ResultForm<'_>, bool),
) -> String {
    let PagedList { kind, hints, .. } = *list;
    let mut text = String::with_capacity(bytes + 512);
    let is_new = form.caller.is_new();
    text.push_str(if is_new { r#"{"resultType":"complete",""# } else { r#"{""# });
    text.push_str(kind.member());
    text.push_str("\":[");
    for (place, item) in page.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(item.json);
    }
    text.push(']');
    if let Some(next) = next {
        text.push_str(",\"nextCursor\":");
        text.push_str(&json_string(next));
    }
    if let Some(hints) = form.passes_new_era().then_some(hints).flatten() {
        for (name, value) in JsonMembers::parse(hints.as_str()).iter().flat_map(JsonMembers::iter) {
            text.push_str(&format!(",{}:{}", json_string(name), value.get()));
        }
    } else if is_new {
        // While items may still join, no client should keep the list.
        let fresh = if is_settled { whole_milliseconds(SERVED_LIST_FRESH) } else { 0 };
        let meta = match &form.server_info {
            Some(info) => serde_json::json!({ "io.modelcontextprotocol/serverInfo": info }),
            None => result_meta(),
        };
        text.push_str(&format!(r#","ttlMs":{fresh},"cacheScope":"private","_meta":{meta}"#));
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    //! Cursors while the list changes.
    use super::*;
    use crate::client_abilities::Caller;

    fn walk(lists: &[Vec<String>]) -> Vec<String> {
        let caller = Caller::from_initialize(mcparley_wire::ProtocolVersion::NEWEST_OLD, None);
        let mode = GatewayMode::default();
        let form =
            ResultForm { caller: &caller, mode: &mode, tag: None, server_info: None, server_era: None };
        let (mut seen, mut cursor) = (Vec::new(), None);
        for place in 0.. {
            let list = lists.get(place).or(lists.last()).unwrap();
            let json: Vec<String> = list.iter().map(|name| json_string(name)).collect();
            let items: Vec<PageItem<'_>> =
                list.iter().zip(&json).map(|(key, json)| PageItem { key, json }).collect();
            let item = |place: usize| items.get(place).copied();
            let paged = PagedList { kind: ListKind::Tools, len: items.len(), hints: None, item: &item };
            let page = build_page(&paged, cursor.as_ref(), (&form, true)).unwrap();
            seen.extend(page.member("tools").unwrap().decode::<Vec<String>>().unwrap());
            cursor = page.member("nextCursor");
            if cursor.is_none() {
                break;
            }
        }
        seen
    }

    // G5
    #[test]
    fn pages_of_a_changing_list_miss_and_repeat_nothing_that_stays() {
        let names =
            |range: std::ops::Range<usize>| range.map(|number| format!("t{number}")).collect::<Vec<_>>();
        assert_eq!(walk(&[names(0..2500)]), names(0..2500));
        let without_first = names(1..2500);
        let with_more: Vec<String> = ["new".to_owned()].into_iter().chain(names(0..2500)).collect();
        for changed in [without_first, with_more] {
            let seen = walk(&[names(0..2500), changed]);
            let unique: std::collections::HashSet<_> = seen.iter().collect();
            assert_eq!((seen.len(), unique.len()), (2500, 2500));
        }
        // The last item of the first page is gone.
        let without_last: Vec<String> = names(0..2500).into_iter().filter(|name| name != "t999").collect();
        let seen = walk(&[names(0..2500), without_last]);
        assert!(names(1000..2500).iter().all(|name| seen.contains(name)));
    }

    // G5
    #[test]
    fn cursor_of_another_list_or_view_is_unknown() {
        let mode = GatewayMode::default();
        let cursor = PageCursor { index: 7, last: [1; 8] };
        let text = RawJson::from_value(&cursor.to_base64(ListKind::Tools, &mode)).unwrap();
        assert_eq!(PageCursor::parse(&text, ListKind::Tools, &mode), Some(cursor));
        assert_eq!(PageCursor::parse(&text, ListKind::Prompts, &mode), None);
        let other = GatewayMode { raw: true, ..mode.clone() };
        assert_eq!(PageCursor::parse(&text, ListKind::Tools, &other), None);
        for garbage in ["\"\"", "\"x\"", "7", "{}", "\"900:gone\""] {
            assert_eq!(PageCursor::parse(&RawJson::from_text(garbage), ListKind::Tools, &mode), None);
        }
    }
}
