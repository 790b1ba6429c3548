//! Refuses requests that two readers could understand differently (H22).
//!
//! A gateway judges what it has read and passes on what was written. If a key stands twice, a server behind might take the
//! other one: so there is no second one, however deep.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Reads the parameters of a request once, for nothing but this.
///
/// # Errors
/// When a key stands twice, they are nested deeper than anyone reads, or they are no object.
pub(crate) fn check(params: &RawJson) -> Result<(), RpcError> {
    if params.as_bytes().first() != Some(&b'{') {
        return Err(RpcError::new(INVALID_PARAMS, "`params` is not an object"));
    }
    let mut reader = serde_json::Deserializer::from_slice(params.as_bytes());
    let read = Unique.deserialize(&mut reader).and_then(|()| reader.end());
    read.map_err(|error| RpcError::new(INVALID_PARAMS, &format!("`params` cannot be read: {error}")))
}

/// A value in which no object has a key twice.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

impl<'de> Visitor<'de> for Unique {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen: HashSet<Key<'de>> = HashSet::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("a key stands twice in it"));
            }
            map.next_value_seed(Unique)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(Unique)?.is_some() {}
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
    //! What is read in one way only, and what is not.
    use super::*;

    // H22 B03 B05 B06
    #[test]
    fn a_key_stands_once_however_deep_and_however_it_is_written() {
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
                raw.is_some_and(|raw| check(&raw).is_ok()),
                fine,
                "{}",
                text.get(..60).unwrap_or(text)
            );
        }
    }
}
