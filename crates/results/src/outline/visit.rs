//! Visits the elements of a JSON list or the members of an object one by one, without collecting them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Calls `see` with the first `most` elements of a list. `None` if the JSON is not a valid list.
pub(crate) fn visit_elements<'j>(
    raw: &'j RawValue,
    most: usize,
    see: &mut dyn FnMut(&'j RawValue),
) -> Option<()> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_seq(ElementVisitor { most, see }).ok()
}

/// Calls `see` with each member of an object. `None` if the JSON is not a valid object.
pub(crate) fn visit_members<'j>(raw: &'j RawValue, see: &mut dyn FnMut(&str, &'j RawValue)) -> Option<()> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_map(MemberVisitor { see }).ok()
}

struct ElementVisitor<'s, 'j> {
    most: usize,
    see: &'s mut dyn FnMut(&'j RawValue),
}

impl<'j> Visitor<'j> for ElementVisitor<'_, 'j> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut list: A) -> Result<(), A::Error> {
        for _ in 0..self.most {
            match list.next_element::<&'j RawValue>()? {
                Some(element) => (self.see)(element),
                None => return Ok(()),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

struct MemberVisitor<'s, 'j> {
    see: &'s mut dyn FnMut(&str, &'j RawValue),
}

impl<'j> Visitor<'j> for MemberVisitor<'_, 'j> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some((MemberName(name), value)) = object.next_entry::<MemberName<'j>, &'j RawValue>()? {
            (self.see)(&name, value);
        }
        Ok(())
    }
}

/// A member name, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct MemberName<'j>(#[serde(borrow)] Cow<'j, str>);
