//! Builds the parameters of a request.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::RawJson;

/// Room for the parameters of most requests, so that they are written without taking more.
const USUAL: usize = 256;

/// The members of `params`, in order, and what goes into its `_meta`.
#[derive(Clone, Default)]
pub struct Params {
    /// The members as JSON, without the braces.
    text: Vec<u8>,
    meta: Map<String, Value>,
}

impl Params {
    /// No members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member. One that cannot be written as JSON is left out; ours all can.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &impl Serialize) -> Self {
        let before = self.text.len();
        self.text.reserve(if before == 0 { USUAL } else { name.len() + MARGIN });
        key(&mut self.text, name);
        if serde_json::to_writer(&mut self.text, value).is_err() {
            self.text.truncate(before);
        }
        self
    }

    /// Adds a member that is JSON already.
    #[must_use]
    pub fn with_raw(mut self, name: &'static str, value: &RawJson) -> Self {
        self.text.reserve(name.len() + value.as_bytes().len() + MARGIN);
        key(&mut self.text, name);
        self.text.extend_from_slice(value.as_bytes());
        self
    }

    /// Adds something to `_meta`.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }

    /// The JSON, with `always` in front of what was put into `_meta`.
    pub(crate) fn render(&self, always: &Meta) -> Option<RawJson> {
        if self.is_empty(always) {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.room(always));
        self.write(always, &mut bytes);
        Some(RawJson::from_bytes(Bytes::from(bytes)))
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_empty(&self, always: &Meta) -> bool {
        self.text.is_empty() && self.meta.is_empty() && always.members.is_empty()
    }

    /// How much room the JSON usually takes.
    pub(crate) fn room(&self, always: &Meta) -> usize {
        self.text.len() + always.text.len() + MARGIN
    }

    /// Writes what [`Params::render`] gives.
    pub(crate) fn write(&self, always: &Meta, bytes: &mut Vec<u8>) {
        bytes.push(b'{');
        bytes.extend_from_slice(&self.text);
        if !(self.meta.is_empty() && always.members.is_empty()) {
            key(bytes, "_meta");
            always.write(&self.meta, bytes);
        }
        bytes.push(b'}');
    }
}

impl std::fmt::Debug for Params {
    /// Their length only: payloads are the user's.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Params({} bytes)", self.text.len())
    }
}

/// What every request of a conversation carries in its `_meta`, written once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    members: Map<String, Value>,
    /// The members as JSON, without the braces.
    text: String,
}

impl From<Map<String, Value>> for Meta {
    fn from(members: Map<String, Value>) -> Self {
        let mut text = Value::Object(members.clone()).to_string();
        text.pop();
        text.remove(0);
        Self { members, text }
    }
}

impl Meta {
    /// The same with this member, or without it.
    pub(crate) fn with(&self, name: &str, value: Option<Value>) -> Self {
        let mut members = self.members.clone();
        match value {
            Some(value) => members.insert(name.to_owned(), value),
            None => members.remove(name),
        };
        Self::from(members)
    }

    /// Writes it with `more` behind it; of two members of the same name the later one counts.
    fn write(&self, more: &Map<String, Value>, bytes: &mut Vec<u8>) {
        if more.keys().any(|name| self.members.contains_key(name)) {
            let mut members = self.members.clone();
            members.extend(more.clone());
            return bytes.extend_from_slice(Value::Object(members).to_string().as_bytes());
        }
        bytes.push(b'{');
        bytes.extend_from_slice(self.text.as_bytes());
        for (name, value) in more {
            key(bytes, name);
            bytes.extend_from_slice(value.to_string().as_bytes());
        }
        bytes.push(b'}');
    }
}

/// Room for braces and for what is short: a name, a number, a progress token.
const MARGIN: usize = 64;

fn key(bytes: &mut Vec<u8>, name: &str) {
    // No value ends with this brace, so it is the beginning of an object.
    if !matches!(bytes.last(), None | Some(b'{')) {
        bytes.push(b',');
    }
    string(bytes, name);
    bytes.push(b':');
}

/// Writes text as JSON.
pub(crate) fn string(bytes: &mut Vec<u8>, text: &str) {
    // Neither text nor memory can refuse to be written.
    let _written = serde_json::to_writer(bytes, text);
}

impl RawJson {
    /// Takes text that must be JSON.
    ///
    /// # Errors
    /// When it is not.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Self::from_text(raw.get()))
    }
}
