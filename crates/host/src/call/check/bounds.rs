//! Decides which schemas are worth the risk of compiling them (H25, B103).
//!
//! What costs is not the text but what it means: references let a kilobyte stand for more alternatives than
//! there are atoms, and let checking one value never end. So references are followed here first, and counted.

use std::collections::{HashMap, HashSet};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use mcparley_model::limits::{
    EXCERPT_CHARS, SCHEMA_BYTES, SCHEMA_DEPTH, SCHEMA_LAYERS, SCHEMA_PARTS, SCHEMA_PATTERNS,
};
use mcparley_model::text::{clean, cut};
use serde_json::{Map, Value};

use super::refs::{self, Refs};

/// The text is not too long.
pub(super) fn length(text: &str) -> Result<(), String> {
    within(text.len(), SCHEMA_BYTES, "bytes")
}

/// There are not too many parts, nor are they nested too deep, nor do they have names that move references.
pub(super) fn parts(schema: &Value) -> Result<(), String> {
    let mut count = 0;
    let mut patterns = HashSet::new();
    let mut has_inner_names = false;
    refs::each_object(schema, &mut |members, value| {
        count += 1;
        patterns.extend(members.get("pattern").and_then(Value::as_str));
        let expressions = members.get("patternProperties").and_then(Value::as_object);
        patterns.extend(expressions.into_iter().flatten().map(|(pattern, _)| pattern.as_str()));
        let is_named = ["$id", "id"].iter().any(|name| members.get(*name).is_some_and(Value::is_string));
        has_inner_names |= is_named && !std::ptr::eq(value, schema);
    });
    within(count, SCHEMA_PARTS, "parts")?;
    within(depth(schema), SCHEMA_DEPTH, "levels")?;
    within(patterns.len(), SCHEMA_PATTERNS, "patterns")?;
    if has_inner_names && refs::any(schema) {
        return Err("parts of it have identifiers of their own".into());
    }
    Ok(())
}

/// No value meets too many parts at once, however the references go.
pub(super) fn layers(schema: &Value) -> Result<(), String> {
    let mut layers = Layers { refs: Refs::new(schema), known: HashMap::new() };
    let mut result = Ok(());
    refs::each_object(schema, &mut |_, part| {
        if result.is_ok() {
            result = layers.of(part, 0).map(drop);
        }
    });
    result
}

/// Why a schema did not compile, in our words: the library's may repeat all of it.
pub(super) fn unusable(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => error.schema_path().as_str(),
        place => place,
    };
    let what = match error.kind() {
        ValidationErrorKind::Referencing(_) => "it refers to something that is not part of it".into(),
        kind => format!("it is no JSON Schema: `{}` does not hold", kind.keyword()),
    };
    cut(&clean(&format!("{what} at `{place}`")), EXCERPT_CHARS).into_owned()
}

fn within(count: usize, limit: usize, what: &str) -> Result<(), String> {
    if count <= limit { Ok(()) } else { Err(format!("it has more than {limit} {what}")) }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
    }
}

/// How many parts apply to one value together with a part, and how many of them within each other.
#[derive(Clone, Copy)]
struct Stack {
    parts: usize,
    height: usize,
}

struct Layers<'s> {
    refs: Refs<'s>,
    known: HashMap<*const Value, Stack>,
}

impl<'s> Layers<'s> {
    /// Going round in a circle ends here as well: it has no bottom.
    fn of(&mut self, part: &'s Value, above: usize) -> Result<Stack, String> {
        if let Some(stack) = self.known.get(&std::ptr::from_ref(part)) {
            within(above + stack.height, SCHEMA_LAYERS, "layers")?;
            return Ok(*stack);
        }
        within(above + 1, SCHEMA_LAYERS, "layers")?;
        let mut whole = Stack { parts: 1, height: 1 };
        if let Some(members) = part.as_object() {
            let targets = self.refs.targets(members).map_err(outside)?;
            for below in in_place(members).chain(targets) {
                let below = self.of(below, above + 1)?;
                whole.parts += below.parts;
                whole.height = whole.height.max(below.height + 1);
                within(whole.parts, SCHEMA_PARTS, "parts for one value")?;
            }
        }
        self.known.insert(std::ptr::from_ref(part), whole);
        Ok(whole)
    }
}

fn outside(reference: &str) -> String {
    cut(&clean(&format!("it refers to `{reference}`, which is not part of it")), EXCERPT_CHARS).into_owned()
}

/// The parts that apply to the same value as the part they stand in, without those it refers to.
pub(super) fn in_place(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = ["not", "if", "then", "else"].into_iter().filter_map(|name| members.get(name));
    let many = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|name| members.get(name)?.as_array());
    let named = ["dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|name| members.get(name)?.as_object())
        .flat_map(Map::values);
    one.chain(many.flatten()).chain(named).filter(|part| part.is_object())
}
