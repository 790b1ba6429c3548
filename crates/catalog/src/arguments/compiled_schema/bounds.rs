//! Limits on the schemas that are compiled.
//!
//! The cost of a schema is not its length but its expansion: with references, a kilobyte can stand for more
//! alternatives than there are atoms, or never end. So references are followed and counted here first.

use std::collections::{HashMap, HashSet};

use mcparley_model::limits::{
    EXCERPT_CHARS, SCHEMA_BYTES, SCHEMA_DEPTH, SCHEMA_LAYERS, SCHEMA_PARTS, SCHEMA_PATTERNS,
};
use mcparley_model::text::{clean_text, truncate_text};
use serde_json::{Map, Value};

use crate::arguments::refs::{self, SchemaRefs};

/// Checks the length of the text.
pub(super) fn check_length(text: &str) -> Result<(), String> {
    check_limit(text.len(), SCHEMA_BYTES, "bytes")
}

/// Checks the number of schema parts, their nesting, their patterns, and ids that would redirect references.
pub(super) fn check_parts(schema: &Value) -> Result<(), String> {
    let mut count = 0;
    let mut patterns = HashSet::new();
    let mut has_inner_names = false;
    refs::for_each_object(schema, &mut |members, value| {
        count += 1;
        patterns.extend(members.get("pattern").and_then(Value::as_str));
        let expressions = members.get("patternProperties").and_then(Value::as_object);
        patterns.extend(expressions.into_iter().flatten().map(|(pattern, _)| pattern.as_str()));
        let is_named = ["$id", "id"].iter().any(|name| members.get(*name).is_some_and(Value::is_string));
        has_inner_names |= is_named && !std::ptr::eq(value, schema);
    });
    check_limit(count, SCHEMA_PARTS, "parts")?;
    check_limit(nesting_depth(schema), SCHEMA_DEPTH, "levels")?;
    check_limit(patterns.len(), SCHEMA_PATTERNS, "patterns")?;
    if has_inner_names && refs::has_references(schema) {
        return Err("parts of it have identifiers of their own".into());
    }
    Ok(())
}

/// Checks the number of parts that apply to one value at once, with all references followed.
pub(super) fn check_layers(schema: &Value) -> Result<(), String> {
    let mut layers = LayerCounter { refs: SchemaRefs::new(schema), known: HashMap::new() };
    let mut result = Ok(());
    refs::for_each_object(schema, &mut |_, part| {
        if result.is_ok() {
            result = layers.count_layers(part, 0).map(drop);
        }
    });
    result
}

fn check_limit(count: usize, limit: usize, what: &str) -> Result<(), String> {
    if count <= limit { Ok(()) } else { Err(format!("it has more than {limit} {what}")) }
}

fn nesting_depth(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(elements) => 1 + elements.iter().map(nesting_depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(nesting_depth).max().unwrap_or(0),
    }
}

/// The number of parts that apply to one value together with a part, and their nesting.
#[derive(Clone, Copy)]
struct LayerCount {
    parts: usize,
    height: usize,
}

struct LayerCounter<'s> {
    refs: SchemaRefs<'s>,
    known: HashMap<*const Value, LayerCount>,
}

impl<'s> LayerCounter<'s> {
    /// Counts the layers of a part. The limit also ends a circular reference.
    fn count_layers(&mut self, part: &'s Value, above: usize) -> Result<LayerCount, String> {
        if let Some(stack) = self.known.get(&std::ptr::from_ref(part)) {
            check_limit(above + stack.height, SCHEMA_LAYERS, "layers")?;
            return Ok(*stack);
        }
        check_limit(above + 1, SCHEMA_LAYERS, "layers")?;
        let mut whole = LayerCount { parts: 1, height: 1 };
        if let Some(members) = part.as_object() {
            let targets = self.refs.targets(members).map_err(describe_outside_reference)?;
            for below in in_place(members).chain(targets) {
                let below = self.count_layers(below, above + 1)?;
                whole.parts += below.parts;
                whole.height = whole.height.max(below.height + 1);
                check_limit(whole.parts, SCHEMA_PARTS, "parts for one value")?;
            }
        }
        self.known.insert(std::ptr::from_ref(part), whole);
        Ok(whole)
    }
}

fn describe_outside_reference(reference: &str) -> String {
    truncate_text(&clean_text(&format!("it refers to `{reference}`, which is not part of it")), EXCERPT_CHARS)
        .into_owned()
}

/// The subschemas that apply to the same value as the part that contains them, without references.
pub(super) fn in_place(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = ["not", "if", "then", "else"].into_iter().filter_map(|name| members.get(name));
    let many = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|name| members.get(name)?.as_array());
    let named = ["dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|name| members.get(name)?.as_object())
        .flat_map(Map::values);
    one.chain(many.flatten()).chain(named).filter(|part| part.is_object())
}
