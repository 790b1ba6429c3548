//! Builds the parameters of a request.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::RawJson;

/// The members of `params`, in order, and what goes into its `_meta`.
#[derive(Clone, Debug, Default)]
pub struct Params {
    members: Vec<(&'static str, RawJson)>,
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
    pub fn with(self, name: &'static str, value: &impl Serialize) -> Self {
        match RawJson::of(value) {
            Ok(value) => self.with_raw(name, value),
            Err(_) => self,
        }
    }

    /// Adds a member that is JSON already.
    #[must_use]
    pub fn with_raw(mut self, name: &'static str, value: RawJson) -> Self {
        self.members.push((name, value));
        self
    }

    /// Adds something to `_meta`.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }

    /// The JSON, with `always` in front of what was put into `_meta`.
    pub(crate) fn render(&self, always: &Map<String, Value>) -> Option<RawJson> {
        let mut meta = always.clone();
        meta.extend(self.meta.clone());
        if self.members.is_empty() && meta.is_empty() {
            return None;
        }
        let mut bytes = vec![b'{'];
        for (name, value) in &self.members {
            key(&mut bytes, name);
            bytes.extend_from_slice(value.as_bytes());
        }
        if !meta.is_empty() {
            key(&mut bytes, "_meta");
            bytes.extend_from_slice(Value::Object(meta).to_string().as_bytes());
        }
        bytes.push(b'}');
        Some(RawJson::from_bytes(Bytes::from(bytes)))
    }
}

fn key(bytes: &mut Vec<u8>, name: &str) {
    if bytes.len() > 1 {
        bytes.push(b',');
    }
    bytes.extend_from_slice(Value::from(name).to_string().as_bytes());
    bytes.push(b':');
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
