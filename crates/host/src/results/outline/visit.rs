//! Looks at the parts of a list or an object one by one, without keeping them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Shows the first elements of a list, `most` of them. Nothing if it is no good list.
pub(in crate::results) fn elements<'j>(
    raw: &'j RawValue,
    most: usize,
    see: &mut dyn FnMut(&'j RawValue),
) -> Option<()> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_seq(Elements { most, see }).ok()
}

/// Shows the members of an object. Nothing if it is no good object.
pub(in crate::results) fn members<'j>(
    raw: &'j RawValue,
    see: &mut dyn FnMut(&str, &'j RawValue),
) -> Option<()> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    reader.deserialize_map(Members { see }).ok()
}

struct Elements<'s, 'j> {
    most: usize,
    see: &'s mut dyn FnMut(&'j RawValue),
}

impl<'j> Visitor<'j> for Elements<'_, 'j> {
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

struct Members<'s, 'j> {
    see: &'s mut dyn FnMut(&str, &'j RawValue),
}

impl<'j> Visitor<'j> for Members<'_, 'j> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some((Key(name), value)) = object.next_entry::<Key<'j>, &'j RawValue>()? {
            (self.see)(&name, value);
        }
        Ok(())
    }
}

/// A name, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'j>(#[serde(borrow)] Cow<'j, str>);
