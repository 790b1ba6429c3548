//! Which kinds of JSON value a schema takes.

use std::ops::BitOr;

use serde_json::Value;

/// A set of kinds; the empty set stands for a schema that does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

/// The word of a schema, what people call it, and the kind.
const WORDS: [(&str, &str, Kinds); 7] = [
    ("string", "a string", Kinds::STRING),
    ("integer", "an integer", Kinds::INTEGER),
    ("number", "a number", Kinds::NUMBER),
    ("boolean", "`true` or `false`", Kinds::BOOLEAN),
    ("array", "an array", Kinds::ARRAY),
    ("object", "an object", Kinds::OBJECT),
    ("null", "`null`", Kinds::NULL),
];

impl Kinds {
    pub(super) const STRING: Self = Self(1);
    pub(super) const INTEGER: Self = Self(1 << 1);
    pub(super) const NUMBER: Self = Self(1 << 2);
    pub(super) const BOOLEAN: Self = Self(1 << 3);
    pub(super) const ARRAY: Self = Self(1 << 4);
    pub(super) const OBJECT: Self = Self(1 << 5);
    pub(super) const NULL: Self = Self(1 << 6);

    /// The kinds of a `type`, which is a word or a list of words.
    pub(super) fn of_type(kind: &Value) -> Self {
        let of_word = |word: &Value| {
            let known = WORDS.iter().find(|(known, _, _)| word == known);
            known.map_or(Self::default(), |(_, _, kind)| *kind)
        };
        match kind {
            Value::Array(words) => words.iter().map(of_word).fold(Self::default(), Self::bitor),
            word => of_word(word),
        }
    }

    /// The narrowest kind of a value.
    pub(super) fn of_value(value: &Value) -> Self {
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

    /// Whether a value of this kind may stand here.
    pub(super) fn admit(self, value: &Value) -> bool {
        let kind = Self::of_value(value);
        self.has(kind) || (kind == Self::INTEGER && self.has(Self::NUMBER))
    }

    /// As people say it: `an integer or null`.
    pub(super) fn in_words(self) -> String {
        self.list(|(_, words, _)| words)
    }

    /// As a schema says it: `integer|null`.
    pub(super) fn in_short(self) -> String {
        let words = WORDS.iter().filter(|(_, _, kind)| self.has(*kind)).map(|(word, _, _)| *word);
        words.collect::<Vec<_>>().join("|")
    }

    fn list(self, of: impl Fn(&(&'static str, &'static str, Self)) -> &'static str) -> String {
        let words: Vec<&str> = WORDS.iter().filter(|(_, _, kind)| self.has(*kind)).map(of).collect();
        match words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "JSON".to_owned(),
        }
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// JSON Schema counts `3.0` among the integers.
fn is_whole(number: &serde_json::Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
