//! Looks into a tool's schema: which properties there are, and of which kind.
//!
//! Only what helps to understand a command line. References inside of the schema are followed, alternatives are
//! taken together, and both end at a limit: schemas refer to themselves, by habit or by malice.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::kinds::Kinds;

/// How many parts one place of a schema may have, references and alternatives together.
const PARTS: usize = 256;

/// The schema of what nothing is said about.
pub(super) static ANYTHING: Value = Value::Null;

/// One place in a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'s> {
    /// Where references start.
    root: &'s Value,
    here: &'s Value,
}

/// What a schema says about properties it does not name.
pub(super) enum Others<'s> {
    /// There are none.
    Forbidden,
    /// It says nothing.
    Unsaid,
    /// They are like this.
    Like(Schema<'s>),
}

impl<'s> Schema<'s> {
    pub(super) fn of(root: &'s Value) -> Self {
        Self { root, here: root }
    }

    /// The named properties, in the order of the schema.
    pub(super) fn properties(self) -> Vec<(&'s str, Self)> {
        let mut seen = BTreeSet::new();
        let parts = self.parts();
        let named = parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten();
        named
            .filter(|(name, _)| seen.insert(name.as_str()))
            .map(|(name, here)| (name.as_str(), self.at(here)))
            .collect()
    }

    /// The property of exactly this name.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.parts().iter().find_map(|part| part.get("properties")?.get(name)).map(|here| self.at(here))
    }

    /// Whether the property of this name must be there.
    pub(super) fn requires(self, name: &str) -> bool {
        let lists = self.parts().into_iter().filter_map(|part| part.get("required")?.as_array());
        lists.flatten().any(|required| required == name)
    }

    pub(super) fn others(self) -> Others<'s> {
        let parts = self.parts();
        let said = parts.iter().find_map(|part| part.get("additionalProperties"));
        let patterns = parts.iter().any(|part| part.contains_key("patternProperties"));
        match said {
            _ if patterns => Others::Like(self.at(&ANYTHING)),
            Some(Value::Bool(false)) => Others::Forbidden,
            Some(here) => Others::Like(self.at(here)),
            None => Others::Unsaid,
        }
    }

    /// What the elements of an array are.
    pub(super) fn items(self) -> Self {
        let items = self.parts().iter().find_map(|part| part.get("items"));
        self.at(items.unwrap_or(&ANYTHING))
    }

    pub(super) fn kinds(self) -> Kinds {
        self.parts().into_iter().map(kinds_of).fold(Kinds::default(), |all, kinds| all | kinds)
    }

    /// The values it may have, where they are listed.
    pub(super) fn choices(self) -> Vec<&'s Value> {
        let parts = self.parts();
        let listed = parts.iter().filter_map(|part| part.get("enum")?.as_array()).flatten();
        listed.chain(parts.iter().filter_map(|part| part.get("const"))).collect()
    }

    /// The first text under this keyword.
    pub(super) fn text(self, keyword: &str) -> Option<&'s str> {
        self.parts().iter().find_map(|part| part.get(keyword)?.as_str())
    }

    pub(super) fn default(self) -> Option<&'s Value> {
        self.parts().iter().find_map(|part| part.get("default"))
    }

    /// Whether giving it again appends.
    pub(super) fn is_list(self) -> bool {
        self.kinds().has(Kinds::ARRAY)
    }

    /// Whether it is either on or off, so that its name alone says enough.
    pub(super) fn is_switch(self) -> bool {
        self.kinds().without(Kinds::NULL) == Kinds::BOOLEAN
    }

    fn at(self, here: &'s Value) -> Self {
        Self { root: self.root, here }
    }

    /// This place, what it refers to, and its alternatives.
    fn parts(self) -> Vec<&'s Map<String, Value>> {
        let mut found: Vec<&'s Map<String, Value>> = Vec::new();
        let mut waiting = vec![self.here];
        while let Some(here) = waiting.pop() {
            let Some(part) = here.as_object() else { continue };
            if found.len() == PARTS || found.iter().any(|known| std::ptr::eq(*known, part)) {
                continue;
            }
            found.push(part);
            let alternatives =
                ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|word| part.get(word)?.as_array());
            waiting.extend(alternatives.flatten().rev());
            waiting.extend(part.get("$ref").and_then(|target| self.referred(target)));
        }
        found
    }

    /// References to other documents are never followed.
    fn referred(self, target: &Value) -> Option<&'s Value> {
        let pointer = target.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }
}

fn kinds_of(part: &Map<String, Value>) -> Kinds {
    if let Some(kind) = part.get("type") {
        return Kinds::of_type(kind);
    }
    let listed = part.get("enum").and_then(Value::as_array).into_iter().flatten();
    let values = listed.chain(part.get("const")).map(Kinds::of_value);
    let object = part.contains_key("properties").then_some(Kinds::OBJECT);
    let array = part.contains_key("items").then_some(Kinds::ARRAY);
    values.chain(object).chain(array).fold(Kinds::default(), |all, kind| all | kind)
}
