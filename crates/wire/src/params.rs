//! Builder for the parameters of a request.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use mcparley_json::RawJson;

/// Capacity for the parameters of most requests, so that they are written without reallocation.
const USUAL: usize = 256;

/// The members of `params`, in order, and the members of its `_meta`.
#[derive(Clone, Default)]
pub struct RequestParams {
    /// The members as JSON, without the braces.
    text: Vec<u8>,
    meta: Map<String, Value>,
}

impl RequestParams {
    /// Creates parameters without members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member. A value that cannot be serialized is left out; ours all can.
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: &impl Serialize) -> Self {
        let before = self.text.len();
        self.text.reserve(if before == 0 { USUAL } else { name.len() + MARGIN });
        write_key(&mut self.text, name);
        if serde_json::to_writer(&mut self.text, value).is_err() {
            self.text.truncate(before);
        }
        self
    }

    /// Adds a member that is JSON already.
    #[must_use]
    pub fn with_raw(mut self, name: &str, value: &RawJson) -> Self {
        self.text.reserve(name.len() + value.as_bytes().len() + MARGIN);
        write_key(&mut self.text, name);
        self.text.extend_from_slice(value.as_bytes());
        self
    }

    /// Adds a member to `_meta`.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }

    /// Removes a member of `_meta`.
    #[must_use]
    pub fn without_meta(mut self, name: &str) -> Self {
        self.meta.remove(name);
        self
    }

    /// Encodes the JSON, with `always` before the other members of `_meta`.
    pub(crate) fn to_json(&self, always: &PeerRequestMeta) -> Option<RawJson> {
        if self.is_empty(always) {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.size_estimate(always));
        self.write_json(always, &mut bytes);
        Some(RawJson::from_bytes(Bytes::from(bytes)))
    }

    /// Whether there is neither a member nor a member of `_meta`.
    pub(crate) fn is_empty(&self, always: &PeerRequestMeta) -> bool {
        self.text.is_empty() && self.meta.is_empty() && always.members.is_empty()
    }

    /// Estimates the size of the JSON.
    pub(crate) fn size_estimate(&self, always: &PeerRequestMeta) -> usize {
        self.text.len() + always.encoded.iter().map(|member| member.len() + 1).sum::<usize>() + MARGIN
    }

    /// Writes the JSON, as [`RequestParams::to_json`] returns it.
    pub(crate) fn write_json(&self, always: &PeerRequestMeta, bytes: &mut Vec<u8>) {
        bytes.push(b'{');
        bytes.extend_from_slice(&self.text);
        if !(self.meta.is_empty() && always.members.is_empty()) {
            write_key(bytes, "_meta");
            always.write_json(&self.meta, bytes);
        }
        bytes.push(b'}');
    }
}

impl std::fmt::Debug for RequestParams {
    /// Shows the length only: payloads belong to the user.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RequestParams({} bytes)", self.text.len())
    }
}

/// The `_meta` members of every request of a session, encoded once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerRequestMeta {
    members: Map<String, Value>,
    /// The members as JSON: name, colon and value, in the order of the members.
    encoded: Vec<Vec<u8>>,
}

impl From<Map<String, Value>> for PeerRequestMeta {
    fn from(members: Map<String, Value>) -> Self {
        let encode = |(name, value): (&String, &Value)| {
            let mut text = Vec::new();
            write_member(&mut text, name, value);
            text
        };
        Self { encoded: members.iter().map(encode).collect(), members }
    }
}

impl PeerRequestMeta {
    /// Returns a copy with this member set, or removed.
    pub(crate) fn with_member(&self, name: &str, value: Option<Value>) -> Self {
        let mut members = self.members.clone();
        match value {
            Some(value) => members.insert(name.to_owned(), value),
            None => members.remove(name),
        };
        Self::from(members)
    }

    /// Writes the members followed by `more`; of two members of the same name the later one counts.
    fn write_json(&self, more: &Map<String, Value>, bytes: &mut Vec<u8>) {
        bytes.push(b'{');
        for ((name, _), encoded) in self.members.iter().zip(&self.encoded) {
            match more.get(name) {
                Some(value) => write_member(bytes, name, value),
                None => {
                    write_comma(bytes);
                    bytes.extend_from_slice(encoded);
                }
            }
        }
        for (name, value) in more.iter().filter(|(name, _)| !self.members.contains_key(*name)) {
            write_member(bytes, name, value);
        }
        bytes.push(b'}');
    }
}

/// Capacity for braces and for short values: a name, a number, a progress token.
const MARGIN: usize = 64;

fn write_key(bytes: &mut Vec<u8>, name: &str) {
    write_comma(bytes);
    write_json_string(bytes, name);
    bytes.push(b':');
}

/// Writes a comma, unless the next member is the first of its object.
fn write_comma(bytes: &mut Vec<u8>) {
    // No value ends with this brace, so it is the beginning of an object.
    if !matches!(bytes.last(), None | Some(b'{')) {
        bytes.push(b',');
    }
}

fn write_member(bytes: &mut Vec<u8>, name: &str, value: &Value) {
    write_key(bytes, name);
    // Writing JSON into memory cannot fail.
    let _written = serde_json::to_writer(bytes, value);
}

/// Writes text as a JSON string.
pub(crate) fn write_json_string(bytes: &mut Vec<u8>, text: &str) {
    // Writing text into memory cannot fail.
    let _written = serde_json::to_writer(bytes, text);
}
