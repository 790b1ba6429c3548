//! Raw JSON that is passed on as bytes, without decoding it.
//!
//! Decoding and encoding again would lose unknown fields, key order and number formats, and cost more than
//! all other work on a message. Code that needs a value decodes only that value.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::scan::ResultScan;

/// One JSON value as text. It is a slice of the message it arrived in, so keeping it copies nothing.
#[derive(Clone)]
pub struct RawJson {
    bytes: Bytes,
    /// The notes of the pass that validated the value at its arrival, if it is the result of a request.
    scan: Option<Arc<ResultScan>>,
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for RawJson {}

impl RawJson {
    /// Serializes a value as JSON.
    ///
    /// # Errors
    /// The value cannot be written as JSON, such as a map with keys that are not strings.
    pub fn from_value(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|bytes| Self::from_bytes(Bytes::from(bytes)))
    }

    /// Validates a text as JSON.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Self::from_text(raw.get()))
    }

    /// Wraps text that is known to be JSON.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self::from_bytes(Bytes::copy_from_slice(text.as_bytes()))
    }

    /// Wraps bytes that are known to be JSON.
    #[must_use]
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self { bytes, scan: None }
    }

    /// Wraps the bytes of a result, with the notes of the scan that validated them.
    #[must_use]
    pub fn from_scanned(bytes: Bytes, scan: ResultScan) -> Self {
        Self { bytes, scan: Some(Arc::new(scan)) }
    }

    /// The notes of the scan of a result: those of its arrival, or of a scan now. `None` for unusual forms.
    #[must_use]
    pub fn result_scan(&self) -> Option<Arc<ResultScan>> {
        match &self.scan {
            Some(scan) => Some(Arc::clone(scan)),
            None => ResultScan::of_result(&self.bytes).map(Arc::new),
        }
    }

    /// The part of `message` that `raw` borrows from it.
    #[must_use]
    pub fn slice_message(message: &Bytes, raw: &RawValue) -> Self {
        Self::from_bytes(message.slice_ref(raw.get().as_bytes()))
    }

    /// The value `raw`, which shares our bytes if it was borrowed from them and is copied otherwise.
    #[must_use]
    pub fn share_slice(&self, raw: &RawValue) -> Self {
        let (whole, part) = (self.bytes.as_ptr_range(), raw.get().as_bytes().as_ptr_range());
        if whole.start <= part.start && part.end <= whole.end {
            Self::slice_message(&self.bytes, raw)
        } else {
            Self::from_text(raw.get())
        }
    }

    /// A copy in memory of its own. A slice keeps the whole message alive, so code that keeps a part for
    /// long should keep a copy.
    #[must_use]
    pub fn to_detached(&self) -> Self {
        Self::from_bytes(Bytes::copy_from_slice(&self.bytes))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // The bytes were parsed as JSON once, so they are UTF-8.
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// The bytes of the JSON text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of the JSON text, shared.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The value as a [`RawValue`]; `None` only for bytes that are not JSON.
    #[must_use]
    pub fn as_raw_value(&self) -> Option<&RawValue> {
        serde_json::from_slice(&self.bytes).ok()
    }

    /// The member `name` of an object; of duplicates the last. It shares our bytes.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(&self.bytes).ok()?;
        members.get(name).map(|raw| Self::slice_message(&self.bytes, raw))
    }

    /// The elements of the array in the member `name` of an object. They share our bytes.
    #[must_use]
    pub fn member_elements(&self, name: &str) -> Option<Vec<Self>> {
        let array = self.member(name)?;
        let elements: Vec<&RawValue> = serde_json::from_slice(&array.bytes).ok()?;
        Some(elements.into_iter().map(|raw| Self::slice_message(&array.bytes, raw)).collect())
    }

    /// Decodes the value. Nesting deeper than 128 is an error, never a stack overflow.
    ///
    /// # Errors
    /// [`UnexpectedShape`] if the JSON has another structure.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, UnexpectedShape> {
        serde_json::from_slice(&self.bytes).map_err(|_| UnexpectedShape)
    }
}

/// The error for JSON with an unexpected structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected JSON structure")]
pub struct UnexpectedShape;

impl std::fmt::Debug for RawJson {
    /// Prints the length only: payloads belong to the user.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawJson({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests;
