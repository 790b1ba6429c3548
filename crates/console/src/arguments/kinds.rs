//! Sets of JSON types that a schema accepts.

use std::ops::BitOr;

use serde_json::Value;

/// A set of JSON types; the empty set stands for a schema without a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ArgumentTypes(u8);

/// The type name in a schema, its phrase in messages, and the type.
const WORDS: [(&str, &str, ArgumentTypes); 7] = [
    ("string", "a string", ArgumentTypes::STRING),
    ("integer", "an integer", ArgumentTypes::INTEGER),
    ("number", "a number", ArgumentTypes::NUMBER),
    ("boolean", "`true` or `false`", ArgumentTypes::BOOLEAN),
    ("array", "an array", ArgumentTypes::ARRAY),
    ("object", "an object", ArgumentTypes::OBJECT),
    ("null", "`null`", ArgumentTypes::NULL),
];

impl ArgumentTypes {
    pub(super) const STRING: Self = Self(1);
    pub(super) const INTEGER: Self = Self(1 << 1);
    pub(super) const NUMBER: Self = Self(1 << 2);
    pub(super) const BOOLEAN: Self = Self(1 << 3);
    pub(super) const ARRAY: Self = Self(1 << 4);
    pub(super) const OBJECT: Self = Self(1 << 5);
    pub(super) const NULL: Self = Self(1 << 6);

    /// The types in the keyword `type`, which is a name or a list of names.
    pub(super) fn from_type(kind: &Value) -> Self {
        let of_word = |word: &Value| {
            let known = WORDS.iter().find(|(known, _, _)| word == known);
            known.map_or(Self::default(), |(_, _, kind)| *kind)
        };
        match kind {
            Value::Array(words) => words.iter().map(of_word).fold(Self::default(), Self::bitor),
            word => of_word(word),
        }
    }

    /// The narrowest type of a value.
    pub(super) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if is_whole(number) => Self::INTEGER,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn is_unknown(self) -> bool {
        self == Self::default()
    }

    pub(super) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    pub(super) fn without(self, kind: Self) -> Self {
        Self(self.0 & !kind.0)
    }

    /// Whether the set accepts the value; an integer is also a number.
    pub(super) fn accepts_value(self, value: &Value) -> bool {
        let kind = Self::from_value(value);
        self.has(kind) || (kind == Self::INTEGER && self.has(Self::NUMBER))
    }

    /// The phrase for messages: `an integer or null`.
    pub(super) fn to_phrase(self) -> String {
        self.join_with(|(_, words, _)| words)
    }

    /// The type names as in a schema: `integer|null`.
    pub(super) fn to_type_names(self) -> String {
        let words = WORDS.iter().filter(|(_, _, kind)| self.has(*kind)).map(|(word, _, _)| *word);
        words.collect::<Vec<_>>().join("|")
    }

    fn join_with(self, of: impl Fn(&(&'static str, &'static str, Self)) -> &'static str) -> String {
        let words: Vec<&str> = WORDS.iter().filter(|(_, _, kind)| self.has(*kind)).map(of).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "JSON".to_owned(),
        }
    }
}

impl BitOr for ArgumentTypes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Whether a number is an integer. In JSON Schema `3.0` is one.
fn is_whole(number: &serde_json::Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
