//! Rejects ambiguous requests: JSON that two parsers could read differently.
//!
//! The gateway checks the parsed request and forwards the original text. With a duplicate key, a server
//! behind it might use the other value: so duplicate keys are rejected at every depth.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Rejects parameters with duplicate keys, in a parse of its own.
///
/// # Errors
/// When a key occurs twice, the nesting is too deep, or the parameters are not an object.
pub(crate) fn reject_duplicate_keys(params: &RawJson) -> Result<(), RpcError> {
    if params.as_bytes().first() != Some(&b'{') {
        return Err(RpcError::new(INVALID_PARAMS, "`params` is not an object"));
    }
    let mut reader = serde_json::Deserializer::from_slice(params.as_bytes());
    let read = UniqueKeys.deserialize(&mut reader).and_then(|()| reader.end());
    read.map_err(|error| RpcError::new(INVALID_PARAMS, &format!("`params` cannot be read: {error}")))
}

/// A deserializer seed that accepts values without duplicate keys.
struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct ObjectKey<'k>(#[serde(borrow)] Cow<'k, str>);

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen: HashSet<ObjectKey<'de>> = HashSet::new();
        while let Some(key) = map.next_key::<ObjectKey<'de>>()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("duplicate key"));
            }
            map.next_value_seed(UniqueKeys)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(UniqueKeys)?.is_some() {}
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _value: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _value: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _value: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _value: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _value: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Unambiguous and ambiguous JSON.
    use super::*;

    // H22 B03 B05 B06
    #[test]
    fn duplicate_keys_are_rejected_at_every_depth_and_in_every_spelling() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        let cases = [
            (r#"{}"#, true),
            (r#"{"name":"a","arguments":{"name":"b","x":[{"y":1},{"y":2}]}}"#, true),
            (r#"{"name":"a","Name":"b","na\u017fme":"c"}"#, true),
            (r#"{"name":"a","name":"b"}"#, false),
            (r#"{"name":"a","\u006eame":"b"}"#, false),
            (r#"{"arguments":{"path":"a","path":"b"}}"#, false),
            (r#"{"arguments":{"x":[[{"y":1,"y":1}]]}}"#, false),
            (r#"[]"#, false),
            (r#""text""#, false),
            (&deep, false),
        ];
        for (text, fine) in cases {
            let raw = RawJson::parse(text).ok();
            assert_eq!(
                raw.is_some_and(|raw| reject_duplicate_keys(&raw).is_ok()),
                fine,
                "{}",
                text.get(..60).unwrap_or(text)
            );
        }
    }
}
