//! The outermost object of a message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::failure::Damage;
use crate::message::Id;
use crate::salvage::MessageOutline;

/// The significant members, each as raw JSON.
#[derive(Debug, Default)]
pub(super) struct Envelope<'m> {
    version: Option<&'m RawValue>,
    pub(super) id: Option<&'m RawValue>,
    pub(super) method: Option<Cow<'m, str>>,
    pub(super) params: Option<&'m RawValue>,
    pub(super) result: Option<&'m RawValue>,
    pub(super) error: Option<&'m RawValue>,
    duplicate: Option<&'static str>,
}

impl Envelope<'_> {
    /// Checks that the message is JSON-RPC 2.0 and has no duplicate keys.
    pub(super) fn check_envelope(&self) -> Result<(), Damage> {
        if let Some(name) = self.duplicate {
            return Err(Damage::Twice(name));
        }
        match self.version.map(RawValue::get) {
            // `error` alone means nothing: log lines have it too.
            None if self.id.is_none() && self.method.is_none() && self.result.is_none() => {
                Err(Damage::Foreign)
            }
            Some(r#""2.0""#) => Ok(()),
            Some(_) | None => Err(Damage::Version),
        }
    }

    /// The members that are present, with the id found for the message.
    pub(super) fn outline(&self, id: Option<Id>) -> MessageOutline {
        MessageOutline {
            has_version: self.version.is_some(),
            has_method: self.method.is_some(),
            has_outcome: self.result.is_some() || self.error.is_some(),
            id,
        }
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        // Borrowed where possible: an escaped key is another spelling of the same key.
        while let Some(EnvelopeKey(key)) = map.next_key()? {
            let (slot, name) = match key.as_ref() {
                "jsonrpc" => (&mut envelope.version, "jsonrpc"),
                "id" => (&mut envelope.id, "id"),
                "params" => (&mut envelope.params, "params"),
                "result" => (&mut envelope.result, "result"),
                "error" => (&mut envelope.error, "error"),
                "method" => {
                    if envelope.method.is_some() {
                        envelope.duplicate = Some("method");
                    }
                    envelope.method = Some(map.next_value::<EnvelopeKey<'de>>()?.0);
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.is_some() {
                envelope.duplicate = Some(name);
            }
            *slot = Some(map.next_value()?);
        }
        // Old libraries write `"error": null` beside a result.
        if envelope.result.is_some() && envelope.error.is_some_and(|error| error.get() == "null") {
            envelope.error = None;
        }
        Ok(envelope)
    }
}

#[derive(Deserialize)]
struct EnvelopeKey<'k>(#[serde(borrow)] Cow<'k, str>);
