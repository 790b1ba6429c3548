//! Edits JSON text without decoding it: spans are cut out and put in, and every other byte stays.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use mcparley::results::ScannedResult;
use mcparley_wire::JsonPieces;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Pending edits of one JSON text.
#[derive(Debug)]
pub(crate) struct JsonEdit<'j> {
    text: &'j str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'j> JsonEdit<'j> {
    pub(crate) fn new(text: &'j str) -> Self {
        Self { text, edits: Vec::new() }
    }

    /// Replaces a value that was borrowed from the text. Any other value is ignored.
    pub(crate) fn replace(&mut self, value: &RawValue, with: String) {
        self.replace_part(value.get(), with);
    }

    /// Replaces a part that was borrowed from the text. Any other part is ignored.
    pub(crate) fn replace_part(&mut self, part: &str, with: String) {
        if let Some(range) = self.range_of(part) {
            self.edits.push((range, with));
        }
    }

    /// Inserts text at the beginning of an object that was borrowed from the text.
    pub(crate) fn insert_first(&mut self, object: &str, members: &impl MemberList, member: &str) {
        if let Some(Range { start, .. }) = self.range_of(object) {
            let at = start + object.find('{').map_or(0, |brace| brace + 1);
            let comma = if members.has_members() { "," } else { "" };
            self.edits.push((at..at, format!("{member}{comma}")));
        }
    }

    /// Appends a member to an object that was borrowed from the text.
    pub(crate) fn insert_last(&mut self, object: &str, members: &impl MemberList, member: &str) {
        if let Some(Range { start, .. }) = self.range_of(object) {
            let at = start + object.rfind('}').unwrap_or(object.len());
            let comma = if members.has_members() { "," } else { "" };
            self.edits.push((at..at, format!("{comma}{member}")));
        }
    }

    /// Removes members of an object that was borrowed from the text. Returns whether any member is left.
    pub(crate) fn remove_members(
        &mut self,
        object: &str,
        members: &impl MemberList,
        is_removed: impl Fn(&str) -> bool,
    ) -> bool {
        let mut is_first = true;
        let mut before = object.find('{').map_or(0, |brace| brace + 1);
        let Some(Range { start, .. }) = self.range_of(object) else { return true };
        for (name, value) in members.list_members() {
            let Some(end) = self.range_of(value).map(|range| range.end - start) else { return true };
            if !is_removed(name) {
                is_first = false;
            } else {
                // The comma behind a member goes with it while no member stands before it.
                let rest = object.get(end..).unwrap_or_default();
                let comma = rest.find(|byte: char| !byte.is_ascii_whitespace());
                let comma =
                    comma.filter(|at| is_first && rest.get(*at..).is_some_and(|it| it.starts_with(',')));
                let end = comma.map_or(end, |at| end + at + 1);
                self.edits.push((start + before..start + end, String::new()));
            }
            before = end;
        }
        !is_first
    }

    /// Applies the edits.
    pub(crate) fn finish(mut self) -> Cow<'j, str> {
        if self.edits.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.sort_edits();
        Cow::Owned(self.write_between(0..self.text.len(), self.edits.iter()))
    }

    /// Applies the edits to the text in `bytes`. The largest part without an edit is shared and not copied.
    pub(crate) fn finish_pieces(mut self, bytes: &Bytes) -> JsonPieces {
        self.sort_edits();
        let starts = self.edits.iter().map(|(range, _)| range.start).chain([bytes.len()]);
        let mut ends = vec![0];
        for (range, _) in &self.edits {
            ends.push(range.end.max(ends.last().copied().unwrap_or_default()));
        }
        let gaps = ends.iter().zip(starts).map(|(end, start)| *end..start.max(*end)).enumerate();
        let Some((count, body)) = gaps.max_by_key(|(_, gap)| gap.len()) else {
            return JsonPieces { head: Bytes::new(), body: bytes.clone(), tail: Bytes::new() };
        };
        let head = self.write_between(0..body.start, self.edits.iter().take(count));
        let tail = self.write_between(body.end..bytes.len(), self.edits.iter().skip(count));
        JsonPieces { head: head.into(), body: bytes.slice(body), tail: tail.into() }
    }

    fn sort_edits(&mut self) {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
    }

    /// Writes a range of the text with its edits, which are sorted.
    fn write_between<'e>(
        &self,
        part: Range<usize>,
        edits: impl Iterator<Item = &'e (Range<usize>, String)> + Clone,
    ) -> String {
        let more: usize = edits.clone().map(|(_, with)| with.len()).sum();
        let (mut edited, mut at) = (String::with_capacity(part.len() + more), part.start);
        for (range, with) in edits {
            edited.push_str(self.text.get(at..range.start).unwrap_or_default());
            edited.push_str(with);
            at = at.max(range.end);
        }
        edited.push_str(self.text.get(at..part.end).unwrap_or_default());
        edited
    }

    /// The place of a part in the text.
    fn range_of(&self, part: &str) -> Option<Range<usize>> {
        let start = part.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        let end = start.checked_add(part.len())?;
        (end <= self.text.len()).then_some(start..end)
    }
}

/// The members of an object, in their order.
pub(crate) trait MemberList {
    /// The names and values.
    fn list_members(&self) -> impl Iterator<Item = (&str, &str)>;

    /// Whether there are members.
    fn has_members(&self) -> bool {
        self.list_members().next().is_some()
    }

    /// The value of a member.
    fn find_member(&self, name: &str) -> Option<&str> {
        self.list_members().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// The members of a result that was scanned and not parsed.
#[derive(Debug)]
pub(crate) struct ScannedMembers<'s>(pub(crate) &'s ScannedResult, pub(crate) &'s str);

impl MemberList for ScannedMembers<'_> {
    fn list_members(&self) -> impl Iterator<Item = (&str, &str)> {
        let Self(result, text) = self;
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        result.scan().members().map(move |(name, value)| (part(name), part(value)))
    }
}

impl MemberList for JsonMembers<'_> {
    fn list_members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value.get()))
    }
}

/// The members of an object in their order; of duplicates the last.
#[derive(Debug)]
pub(crate) struct JsonMembers<'j>(Vec<(Cow<'j, str>, &'j RawValue)>);

impl<'j> JsonMembers<'j> {
    /// Parses an object; `None` if the text is none.
    pub(crate) fn parse(text: &'j str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The member of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&'j RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The member of a name, if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(decode_string)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'j RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }
}

/// The elements of an array; none if the value is no array.
pub(crate) fn array_elements(array: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(array.get()).unwrap_or_default()
}

/// The text of a JSON string.
pub(crate) fn decode_string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// A text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

impl<'de> Deserialize<'de> for JsonMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Deserializes the members of an object in their order.
struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = JsonMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers<'de>, A::Error> {
        #[derive(serde::Deserialize)]
        struct MemberKey<'k>(#[serde(borrow)] Cow<'k, str>);
        let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
        while let Some((MemberKey(name), value)) = map.next_entry::<MemberKey<'de>, &'de RawValue>()? {
            members.push((name, value));
        }
        Ok(JsonMembers(members))
    }
}

#[cfg(test)]
mod tests {
    //! Edits of objects.
    use super::*;

    fn edit(text: &str, change: impl FnOnce(&mut JsonEdit<'_>, &JsonMembers<'_>)) -> String {
        let members = JsonMembers::parse(text).unwrap();
        let mut edit = JsonEdit::new(text);
        change(&mut edit, &members);
        edit.finish().into_owned()
    }

    // G7
    #[test]
    fn edits_touch_only_their_own_bytes() {
        let text = "{ \"a\" : 1.50 , \"b\":\"\\u00e9\", \"c\":{ } }";
        assert_eq!(edit(text, |_, _| ()), text);
        assert_eq!(
            edit(text, |edit, members| edit.replace(members.get("a").unwrap(), "2".to_owned())),
            "{ \"a\" : 2 , \"b\":\"\\u00e9\", \"c\":{ } }"
        );
        let without = |names: &'static [&'static str]| {
            edit(text, |edit, members| {
                edit.remove_members(text, members, |name| names.contains(&name));
            })
        };
        assert_eq!(without(&["a"]), "{ \"b\":\"\\u00e9\", \"c\":{ } }");
        assert_eq!(without(&["b"]), "{ \"a\" : 1.50, \"c\":{ } }");
        assert_eq!(without(&["c"]), "{ \"a\" : 1.50 , \"b\":\"\\u00e9\" }");
        assert_eq!(without(&["a", "b"]), "{ \"c\":{ } }");
        for names in [&["a", "c"][..], &["b", "c"], &["a", "b", "c"]] {
            let left = without(Box::leak(names.to_vec().into_boxed_slice()));
            let read: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&left).unwrap();
            assert_eq!(read.len(), 3 - names.len(), "{left}");
        }
        let both = edit(text, |edit, members| {
            edit.insert_first(text, members, "\"x\":0");
            edit.insert_last(text, members, "\"y\":1");
        });
        assert_eq!(both, "{\"x\":0, \"a\" : 1.50 , \"b\":\"\\u00e9\", \"c\":{ } ,\"y\":1}");
        let empty = "{}";
        assert_eq!(edit(empty, |edit, members| edit.insert_first(empty, members, "\"x\":0")), "{\"x\":0}");
    }
}
