//! The way back: how a value that was written for a rewritten schema becomes what the tool wants.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::kinds::Kinds;

/// What is done to a value, by its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Back {
    /// The types of the values that a model writes here.
    pub(super) kinds: Kinds,
    pub(super) text: Text,
    pub(super) members: Option<Box<Members>>,
    pub(super) elements: Option<Box<Self>>,
}

/// What a string stands for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Text {
    #[default]
    Itself,
    /// The JSON it holds; a text that holds none stands for itself.
    Json,
    /// One of these values; any other text stands for itself.
    Choice(Vec<(String, Value)>),
}

/// What is done to the members of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Members {
    /// By the name that the model knows: the tool's own name, and what is done to the value.
    pub(super) named: BTreeMap<String, (String, Back)>,
    /// What is done to the values of all others.
    pub(super) others: Back,
}

impl Back {
    /// Nothing is done to values of these types.
    pub(super) fn of(kinds: Kinds) -> Self {
        Self { kinds, ..Self::default() }
    }

    pub(super) fn of_text(text: Text) -> Self {
        Self { text, ..Self::of(Kinds::STRING) }
    }

    pub(super) fn of_members(members: Members) -> Self {
        Self { members: Some(Box::new(members)), ..Self::of(Kinds::OBJECT) }
    }

    pub(super) fn of_elements(elements: Self) -> Self {
        Self { elements: Some(Box::new(elements)), ..Self::of(Kinds::ARRAY) }
    }

    /// The same where `null` is written too.
    pub(super) fn or_null(self, nullable: bool) -> Self {
        let kinds = if nullable { self.kinds.or(Kinds::NULL) } else { self.kinds };
        Self { kinds, ..self }
    }

    /// Whether every value stays as it is.
    pub(super) fn does_nothing(&self) -> bool {
        self.text == Text::Itself
            && self.members.as_ref().is_none_or(|members| members.do_nothing())
            && self.elements.as_ref().is_none_or(|elements| elements.does_nothing())
    }

    /// The same without what it need not know to do the same.
    pub(super) fn reduced(self) -> Self {
        let members = self.members.filter(|members| !members.do_nothing());
        let elements = self.elements.filter(|elements| !elements.does_nothing());
        Self {
            kinds: self.kinds,
            text: self.text,
            members: members.map(|members| Box::new(members.reduced())),
            elements: elements.map(|elements| Box::new(elements.reduced())),
        }
    }

    /// The value as the tool wants it.
    pub(super) fn restore(&self, value: Value) -> Value {
        match (value, &self.members, &self.elements) {
            (Value::String(text), _, _) => self.text.restore(text),
            (Value::Object(map), Some(members), _) => Value::Object(members.restore(map)),
            (Value::Array(elements), _, Some(back)) => {
                elements.into_iter().map(|element| back.restore(element)).collect()
            }
            (value, _, _) => value,
        }
    }

    /// What serves the values of both. Nothing when one value would mean two things.
    pub(super) fn join(self, other: Self) -> Option<Self> {
        let both = self.kinds.and(other.kinds);
        let text = match (self.text, other.text) {
            (one, two) if one == two => one,
            (_, two) if !self.kinds.has(Kinds::STRING) => two,
            (one, _) if !other.kinds.has(Kinds::STRING) => one,
            _ => return None,
        };
        let members = match (self.members, other.members) {
            (Some(one), Some(two)) if both.has(Kinds::OBJECT) => Some(Box::new(one.join(*two)?)),
            (one, two) => one.or(two),
        };
        let elements = match (self.elements, other.elements) {
            (Some(one), Some(two)) if both.has(Kinds::ARRAY) => Some(Box::new(one.join(*two)?)),
            (one, two) => one.or(two),
        };
        Some(Self { kinds: self.kinds.or(other.kinds), text, members, elements })
    }
}

impl Text {
    fn restore(&self, text: String) -> Value {
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

impl Members {
    fn restore(&self, map: Map<String, Value>) -> Map<String, Value> {
        let member = |(name, value): (String, Value)| match self.named.get(&name) {
            Some((own, back)) => (own.clone(), back.restore(value)),
            None => (name, self.others.restore(value)),
        };
        map.into_iter().map(member).collect()
    }

    fn do_nothing(&self) -> bool {
        let stays = |(name, (own, back)): (&String, &(String, Back))| name == own && back.does_nothing();
        self.others.does_nothing() && self.named.iter().all(stays)
    }

    fn reduced(self) -> Self {
        let all_others_stay = self.others.does_nothing();
        let named = self.named.into_iter().filter(|(name, (own, back))| {
            // Where others are changed, those that stay must be known.
            !all_others_stay || name != own || !back.does_nothing()
        });
        let named = named.map(|(name, (own, back))| (name, (own, back.reduced()))).collect();
        Self { named, others: self.others.reduced() }
    }

    /// What serves the objects of both. Nothing if a name means one thing here and another there.
    fn join(mut self, other: Self) -> Option<Self> {
        if !self.others.does_nothing() || !other.others.does_nothing() {
            return None;
        }
        for (name, (own, back)) in other.named {
            let back = match self.named.remove(&name) {
                Some((known, _)) if known != own => return None,
                Some((_, known)) => known.join(back)?,
                None => back,
            };
            self.named.insert(name, (own, back));
        }
        Some(self)
    }
}
