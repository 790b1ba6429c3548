//! Sets of JSON types.

use serde_json::Value;

/// A set of JSON types. Numbers are integers plus fractions, so that `integer` and `number` intersect
/// correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JsonTypes(u8);

impl JsonTypes {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    pub(super) const NUMBER: Self = Self(1 << 2 | 1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const ALL: Self = Self(0x7f);

    /// The types in the order in which they are tried, supersets first.
    const NAMED: [(Self, &'static str); 7] = [
        (Self::OBJECT, "object"),
        (Self::ARRAY, "array"),
        (Self::STRING, "string"),
        (Self::NUMBER, "number"),
        (Self::INTEGER, "integer"),
        (Self::BOOLEAN, "boolean"),
        (Self::NULL, "null"),
    ];

    /// The types in a `type` keyword; `None` if its value is invalid.
    pub(super) fn from_keyword(value: &Value) -> Option<Self> {
        match value {
            Value::String(name) => Self::from_name(name),
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().and_then(Self::from_name))
                .try_fold(Self::NONE, |all, kind| Some(all.union(kind?)))
                .filter(|all| *all != Self::NONE),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        }
    }

    /// The type of a value.
    pub(super) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self::NUMBER,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The types one by one; the fewest that make up the set.
    pub(super) fn to_list(self) -> Vec<Self> {
        let mut left = self;
        let mut each = Vec::new();
        for (kind, _) in Self::NAMED {
            if left.contains(kind) {
                left = left.difference(kind);
                each.push(kind);
            }
        }
        each
    }

    /// The names of the types.
    pub(super) fn type_names(self) -> Vec<&'static str> {
        let name = |kind: Self| Self::NAMED.into_iter().find(|(known, _)| *known == kind);
        self.to_list().into_iter().filter_map(|kind| Some(name(kind)?.1)).collect()
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind)
    }
}
