//! Reads properties and types from the JSON Schema of a tool.
//!
//! It reads only the parts that help to interpret a command line. References inside of the schema are
//! followed and alternatives are merged, both up to a limit, because schemas may be recursive, also by
//! malice.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::kinds::ArgumentTypes;

/// The limit of subschemas merged at one position, references and alternatives together.
const PARTS: usize = 256;

/// The schema without any constraint.
pub(super) static ANYTHING: Value = Value::Null;

/// One position in a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolSchema<'s> {
    /// The root, where references are resolved.
    root: &'s Value,
    here: &'s Value,
}

/// The rule of a schema for properties that it does not list.
pub(super) enum ExtraArguments<'s> {
    /// Other properties are forbidden.
    Forbidden,
    /// The schema has no rule for other properties.
    Unsaid,
    /// Other properties have this schema.
    Like(ToolSchema<'s>),
}

impl<'s> ToolSchema<'s> {
    pub(super) fn from_root(root: &'s Value) -> Self {
        Self { root, here: root }
    }

    /// The listed properties, in the order of the schema.
    pub(super) fn properties(self) -> Vec<(&'s str, Self)> {
        let mut seen = BTreeSet::new();
        let parts = self.collect_parts();
        let named = parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten();
        named
            .filter(|(name, _)| seen.insert(name.as_str()))
            .map(|(name, here)| (name.as_str(), self.at_position(here)))
            .collect()
    }

    /// The listed property of exactly this name.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.collect_parts()
            .iter()
            .find_map(|part| part.get("properties")?.get(name))
            .map(|here| self.at_position(here))
    }

    /// Whether the property of this name is required.
    pub(super) fn requires_property(self, name: &str) -> bool {
        let lists = self.collect_parts().into_iter().filter_map(|part| part.get("required")?.as_array());
        lists.flatten().any(|required| required == name)
    }

    pub(super) fn other_properties(self) -> ExtraArguments<'s> {
        let parts = self.collect_parts();
        let said = parts.iter().find_map(|part| part.get("additionalProperties"));
        let patterns = parts.iter().any(|part| part.contains_key("patternProperties"));
        match said {
            _ if patterns => ExtraArguments::Like(self.at_position(&ANYTHING)),
            Some(Value::Bool(false)) => ExtraArguments::Forbidden,
            Some(here) => ExtraArguments::Like(self.at_position(here)),
            None => ExtraArguments::Unsaid,
        }
    }

    /// The schema of the elements of an array.
    pub(super) fn items(self) -> Self {
        let items = self.collect_parts().iter().find_map(|part| part.get("items"));
        self.at_position(items.unwrap_or(&ANYTHING))
    }

    pub(super) fn json_types(self) -> ArgumentTypes {
        self.collect_parts()
            .into_iter()
            .map(json_types_of)
            .fold(ArgumentTypes::default(), |all, kinds| all | kinds)
    }

    /// The allowed values, if `enum` or `const` lists them.
    pub(super) fn choices(self) -> Vec<&'s Value> {
        let parts = self.collect_parts();
        let listed = parts.iter().filter_map(|part| part.get("enum")?.as_array()).flatten();
        listed.chain(parts.iter().filter_map(|part| part.get("const"))).collect()
    }

    /// The first string at this keyword.
    pub(super) fn keyword_text(self, keyword: &str) -> Option<&'s str> {
        self.collect_parts().iter().find_map(|part| part.get(keyword)?.as_str())
    }

    pub(super) fn default(self) -> Option<&'s Value> {
        self.collect_parts().iter().find_map(|part| part.get("default"))
    }

    /// Whether the property is an array, so that repeating it appends.
    pub(super) fn is_list(self) -> bool {
        self.json_types().has(ArgumentTypes::ARRAY)
    }

    /// Whether the property is a boolean, so that an option without a value sets it.
    pub(super) fn is_switch(self) -> bool {
        self.json_types().without(ArgumentTypes::NULL) == ArgumentTypes::BOOLEAN
    }

    fn at_position(self, here: &'s Value) -> Self {
        Self { root: self.root, here }
    }

    /// This subschema, its references and its alternatives, merged into one list.
    fn collect_parts(self) -> Vec<&'s Map<String, Value>> {
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
            waiting.extend(part.get("$ref").and_then(|target| self.resolve_reference(target)));
        }
        found
    }

    /// Resolves a reference inside of the schema. References to other documents are never followed.
    fn resolve_reference(self, target: &Value) -> Option<&'s Value> {
        let pointer = target.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }
}

fn json_types_of(part: &Map<String, Value>) -> ArgumentTypes {
    if let Some(kind) = part.get("type") {
        return ArgumentTypes::from_type(kind);
    }
    let listed = part.get("enum").and_then(Value::as_array).into_iter().flatten();
    let values = listed.chain(part.get("const")).map(ArgumentTypes::from_value);
    let object = part.contains_key("properties").then_some(ArgumentTypes::OBJECT);
    let array = part.contains_key("items").then_some(ArgumentTypes::ARRAY);
    values.chain(object).chain(array).fold(ArgumentTypes::default(), |all, kind| all | kind)
}
