//! The members of a JSON object in the order they are written, duplicates included.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Names and raw values of the outermost object.
#[derive(Debug)]
pub(crate) struct ObjectMembers<'j>(pub(crate) Vec<(String, &'j RawValue)>);

impl<'j> ObjectMembers<'j> {
    /// Parses an object; `None` for every other text.
    pub(crate) fn parse(json: &'j [u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// The raw value of a member, the first of several.
    pub(crate) fn first(&self, name: &str) -> Option<&'j str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.get())
    }

    /// Whether a name occurs more than once.
    pub(crate) fn has_duplicates(&self) -> bool {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| matches!(pair, [one, other] if one == other))
    }
}

impl<'de: 'j, 'j> Deserialize<'de> for ObjectMembers<'j> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;
        impl<'de> Visitor<'de> for MemberVisitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MemberVisitor).map(Self)
    }
}
