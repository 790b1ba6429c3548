//! Restores arguments: converts values that a model wrote for a rewritten schema into those of the tool's own
//! schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::json_types::JsonTypes;

/// Restores a value, depending on its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ArgumentRestorer {
    /// The types of the values that a model writes here.
    pub(super) kinds: JsonTypes,
    pub(super) text: TextRestorer,
    pub(super) members: Option<Box<MemberRestorer>>,
    pub(super) elements: Option<Box<Self>>,
}

/// The meaning of a string.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum TextRestorer {
    #[default]
    Itself,
    /// JSON text. A string that is not JSON is kept as it is.
    Json,
    /// One of these values. Any other string is kept as it is.
    Choice(Vec<(String, Value)>),
}

/// Restores the members of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MemberRestorer {
    /// By the name that the model uses: the tool's own name, and the restorer of the value.
    pub(super) named: BTreeMap<String, (String, ArgumentRestorer)>,
    /// The restorer for the values of all other members.
    pub(super) others: ArgumentRestorer,
}

impl ArgumentRestorer {
    /// A restorer that keeps values of these types unchanged.
    pub(super) fn for_types(kinds: JsonTypes) -> Self {
        Self { kinds, ..Self::default() }
    }

    pub(super) fn for_text(text: TextRestorer) -> Self {
        Self { text, ..Self::for_types(JsonTypes::STRING) }
    }

    pub(super) fn for_members(members: MemberRestorer) -> Self {
        Self { members: Some(Box::new(members)), ..Self::for_types(JsonTypes::OBJECT) }
    }

    pub(super) fn for_elements(elements: Self) -> Self {
        Self { elements: Some(Box::new(elements)), ..Self::for_types(JsonTypes::ARRAY) }
    }

    /// Adds `null` to the types.
    pub(super) fn or_null(self, nullable: bool) -> Self {
        let kinds = if nullable { self.kinds.union(JsonTypes::NULL) } else { self.kinds };
        Self { kinds, ..self }
    }

    /// Whether every value stays unchanged.
    pub(super) fn does_nothing(&self) -> bool {
        self.text == TextRestorer::Itself
            && self.members.as_ref().is_none_or(|members| members.do_nothing())
            && self.elements.as_ref().is_none_or(|elements| elements.does_nothing())
    }

    /// Drops the parts that change no value.
    pub(super) fn minimize_restorer(self) -> Self {
        let members = self.members.filter(|members| !members.do_nothing());
        let elements = self.elements.filter(|elements| !elements.does_nothing());
        Self {
            kinds: self.kinds,
            text: self.text,
            members: members.map(|members| Box::new(members.minimize_members())),
            elements: elements.map(|elements| Box::new(elements.minimize_restorer())),
        }
    }

    /// Restores a value for the tool's own schema.
    pub(super) fn restore_value(&self, value: Value) -> Value {
        match (value, &self.members, &self.elements) {
            (Value::String(text), _, _) => self.text.restore_text(text),
            (Value::Object(map), Some(members), _) => Value::Object(members.restore_members(map)),
            (Value::Array(elements), _, Some(back)) => {
                elements.into_iter().map(|element| back.restore_value(element)).collect()
            }
            (value, _, _) => value,
        }
    }

    /// Merges the restorers of two alternatives; `None` if one value would be ambiguous.
    pub(super) fn merge_restorers(self, other: Self) -> Option<Self> {
        let both = self.kinds.intersection(other.kinds);
        let text = match (self.text, other.text) {
            (one, two) if one == two => one,
            (_, two) if !self.kinds.contains(JsonTypes::STRING) => two,
            (one, _) if !other.kinds.contains(JsonTypes::STRING) => one,
            _ => return None,
        };
        let members = match (self.members, other.members) {
            (Some(one), Some(two)) if both.contains(JsonTypes::OBJECT) => {
                Some(Box::new(one.merge_members(*two)?))
            }
            (one, two) => one.or(two),
        };
        let elements = match (self.elements, other.elements) {
            (Some(one), Some(two)) if both.contains(JsonTypes::ARRAY) => {
                Some(Box::new(one.merge_restorers(*two)?))
            }
            (one, two) => one.or(two),
        };
        Some(Self { kinds: self.kinds.union(other.kinds), text, members, elements })
    }
}

impl TextRestorer {
    fn restore_text(&self, text: String) -> Value {
        match self {
            Self::Itself => Value::String(text),
            Self::Json => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            Self::Choice(values) => match values.iter().find(|(shown, _)| *shown == text) {
                Some((_, value)) => value.clone(),
                None => Value::String(text),
            },
        }
    }
}

impl MemberRestorer {
    fn restore_members(&self, map: Map<String, Value>) -> Map<String, Value> {
        let member = |(name, value): (String, Value)| match self.named.get(&name) {
            Some((own, back)) => (own.clone(), back.restore_value(value)),
            None => (name, self.others.restore_value(value)),
        };
        map.into_iter().map(member).collect()
    }

    fn do_nothing(&self) -> bool {
        let stays =
            |(name, (own, back)): (&String, &(String, ArgumentRestorer))| name == own && back.does_nothing();
        self.others.does_nothing() && self.named.iter().all(stays)
    }

    fn minimize_members(self) -> Self {
        let all_others_stay = self.others.does_nothing();
        let named = self.named.into_iter().filter(|(name, (own, back))| {
            // If other members are changed, the unchanged ones must be listed.
            !all_others_stay || name != own || !back.does_nothing()
        });
        let named = named.map(|(name, (own, back))| (name, (own, back.minimize_restorer()))).collect();
        Self { named, others: self.others.minimize_restorer() }
    }

    /// Merges the restorers of two objects; `None` if one name would be ambiguous.
    fn merge_members(mut self, other: Self) -> Option<Self> {
        if !self.others.does_nothing() || !other.others.does_nothing() {
            return None;
        }
        for (name, (own, back)) in other.named {
            let back = match self.named.remove(&name) {
                Some((known, _)) if known != own => return None,
                Some((_, known)) => known.merge_restorers(back)?,
                None => back,
            };
            self.named.insert(name, (own, back));
        }
        Some(self)
    }
}
