//! The outermost object of a message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::failure::Damage;
use crate::message::Id;
use crate::salvage::Outline;

/// The members that decide, each as it is written.
#[derive(Debug, Default)]
pub(super) struct Envelope<'m> {
    version: Option<&'m RawValue>,
    pub(super) id: Option<&'m RawValue>,
    pub(super) method: Option<Cow<'m, str>>,
    pub(super) params: Option<&'m RawValue>,
    pub(super) result: Option<&'m RawValue>,
    pub(super) error: Option<&'m RawValue>,
    twice: Option<&'static str>,
}

impl Envelope<'_> {
    /// Whether it is JSON-RPC and says one thing.
    pub(super) fn check(&self) -> Result<(), Damage> {
        if let Some(name) = self.twice {
            return Err(Damage::Twice(name));
        }
        match self.version.map(RawValue::get) {
            // `error` alone means nothing: it is what log lines have.
            None if self.id.is_none() && self.method.is_none() && self.result.is_none() => {
                Err(Damage::Foreign)
            }
            Some(r#""2.0""#) => Ok(()),
            Some(_) | None => Err(Damage::Version),
        }
    }

    /// Which members it has, with the id that was found for it.
    pub(super) fn outline(&self, id: Option<Id>) -> Outline {
        Outline {
            has_version: self.version.is_some(),
            has_method: self.method.is_some(),
            has_outcome: self.result.is_some() || self.error.is_some(),
            id,
        }
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        // Borrowed where it can be: an escaped key is another spelling of the same key.
        while let Some(Key(key)) = map.next_key()? {
            let (slot, name) = match key.as_ref() {
                "jsonrpc" => (&mut envelope.version, "jsonrpc"),
                "id" => (&mut envelope.id, "id"),
                "params" => (&mut envelope.params, "params"),
                "result" => (&mut envelope.result, "result"),
                "error" => (&mut envelope.error, "error"),
                "method" => {
                    if envelope.method.is_some() {
                        envelope.twice = Some("method");
                    }
                    envelope.method = Some(map.next_value::<Key<'de>>()?.0);
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.is_some() {
                envelope.twice = Some(name);
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
struct Key<'k>(#[serde(borrow)] Cow<'k, str>);
