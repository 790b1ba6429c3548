//! Iterates over the messages of a batch, bounded.
//!
//! A line of sixteen megabytes can be an array of eight million zeros. Stored as messages they would take a
//! gigabyte, so a batch has a limit.

use std::fmt;

use mcparley_model::limits::BATCH_MESSAGES;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Passes every element to `take`. Input that is not an array, or has too many elements, is an error, and
/// some may have been passed before.
pub(super) fn for_each_message<'m>(
    bytes: &'m [u8],
    take: impl FnMut(&'m RawValue),
) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    BatchVisitor(take).deserialize(&mut reader)?;
    reader.end()
}

struct BatchVisitor<F>(F);

impl<'m, F: FnMut(&'m RawValue)> DeserializeSeed<'m> for BatchVisitor<F> {
    type Value = ();

    fn deserialize<D: Deserializer<'m>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'m, F: FnMut(&'m RawValue)> Visitor<'m> for BatchVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch of messages")
    }

    fn visit_seq<A: SeqAccess<'m>>(mut self, mut elements: A) -> Result<(), A::Error> {
        for _ in 0..BATCH_MESSAGES {
            match elements.next_element()? {
                Some(element) => (self.0)(element),
                None => return Ok(()),
            }
        }
        match elements.next_element::<IgnoredAny>()? {
            Some(IgnoredAny) => Err(A::Error::custom("too many messages in one batch")),
            None => Ok(()),
        }
    }
}
