//! JSON that is passed on as it came: bytes, not values.
//!
//! Decoding and encoding again would lose unknown fields, key order and number forms, and cost more than
//! all the rest. Who needs a value decodes just what it asked for.

mod plain;

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::failure::{Damage, Failure};

pub(crate) use plain::is_plain;

/// One JSON value as text. A slice of the message it came in, so keeping it copies nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Bytes);

impl RawJson {
    /// The JSON of a value of ours.
    ///
    /// # Errors
    /// Only when the value cannot be written as JSON, such as a map with keys that are no strings.
    pub fn of(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|bytes| Self(Bytes::from(bytes)))
    }

    /// Takes text that is known to be JSON.
    pub(crate) fn from_text(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }

    /// Takes bytes that are known to be JSON.
    pub(crate) fn from_bytes(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The part of `message` that `raw` borrows from it.
    pub(crate) fn slice(message: &Bytes, raw: &RawValue) -> Self {
        Self(message.slice_ref(raw.get().as_bytes()))
    }

    /// The value `raw`, which was borrowed from this one: it shares the bytes. Anything else is copied.
    #[must_use]
    pub fn part(&self, raw: &RawValue) -> Self {
        let (whole, part) = (self.0.as_ptr_range(), raw.get().as_bytes().as_ptr_range());
        if whole.start <= part.start && part.end <= whole.end {
            Self::slice(&self.0, raw)
        } else {
            Self::from_text(raw.get())
        }
    }

    /// The same in memory of its own. A slice keeps the whole message alive, and whatever else came with it, so whoever
    /// keeps a part for long keeps a copy.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // It was read as JSON once, so it is UTF-8.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The value as `serde_json` keeps raw ones; absent only if it was no JSON, which it always is.
    #[must_use]
    pub fn as_raw_value(&self) -> Option<&RawValue> {
        serde_json::from_slice(&self.0).ok()
    }

    /// The member `name` of an object; of several the last. Shares the bytes of the whole.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(&self.0).ok()?;
        members.get(name).map(|raw| Self::slice(&self.0, raw))
    }

    /// The elements of the array that is the member `name` of an object. Each shares the bytes of the whole.
    #[must_use]
    pub fn elements(&self, name: &str) -> Option<Vec<Self>> {
        let array = self.member(name)?;
        let elements: Vec<&RawValue> = serde_json::from_slice(&array.0).ok()?;
        Some(elements.into_iter().map(|raw| Self::slice(&array.0, raw)).collect())
    }

    /// Decodes it as what was asked for. Nesting deeper than 128 is damage, never a stack overflow.
    ///
    /// # Errors
    /// [`Damage::Shape`] when it is something else.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.0).map_err(|_| Failure::Damaged(Damage::Shape))
    }
}

impl std::fmt::Debug for RawJson {
    /// Its length only: payloads are the user's.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests;
