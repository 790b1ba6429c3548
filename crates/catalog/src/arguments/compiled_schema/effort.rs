//! Estimates the cost of listing every mismatch.
//!
//! Validation itself caches its results. Collecting the mismatches visits every alternative again, which can
//! double with each level of the arguments for a recursive schema.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::bounds::in_place;
use crate::arguments::refs::SchemaRefs;

/// The maximum number of checks of a schema part against a value; some milliseconds.
const MEETINGS: u64 = 100_000;

/// The maximum nesting: collecting mismatches is recursive, and a thread's stack has 2 MB.
const NESTED: usize = 400;

/// Whether collecting every mismatch stays within the limits.
pub(super) fn is_affordable(schema: &Value, arguments: &Value) -> bool {
    let mut effort = EffortCounter { refs: SchemaRefs::new(schema), known: HashMap::new() };
    effort.count_meetings(schema, arguments, 0).is_some_and(|meetings| meetings <= MEETINGS)
}

struct EffortCounter<'s> {
    refs: SchemaRefs<'s>,
    known: HashMap<(*const Value, *const Value), u64>,
}

impl<'s> EffortCounter<'s> {
    /// Counts the checks that follow from checking `value` against `part`; `None` if they exceed the limit.
    fn count_meetings(&mut self, part: &'s Value, value: &Value, above: usize) -> Option<u64> {
        let Some(members) = part.as_object() else { return Some(1) };
        let key = (std::ptr::from_ref(part), std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        if above >= NESTED {
            return None;
        }
        let mut meetings: u64 = 1;
        let targets = self.refs.targets(members).ok()?;
        for below in in_place(members).chain(targets) {
            meetings = meetings.saturating_add(self.count_meetings(below, value, above + 1)?);
        }
        for (below, inner) in inner_pairs(members, value) {
            meetings = meetings.saturating_add(self.count_meetings(below, inner, above + 1)?);
        }
        self.known.insert(key, meetings);
        (meetings <= MEETINGS).then_some(meetings)
    }
}

/// The subschemas that apply to the values within `value`, paired with those values.
fn inner_pairs<'s, 'v>(members: &'s Map<String, Value>, value: &'v Value) -> Vec<(&'s Value, &'v Value)> {
    let mut pairs = Vec::new();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Object(values) => {
            let named = members.get("properties").and_then(Value::as_object);
            let others = ["additionalProperties", "unevaluatedProperties"];
            let by_pattern = members.get("patternProperties").and_then(Value::as_object);
            for (name, value) in values {
                let own = named.and_then(|named| named.get(name));
                let others = others.iter().filter_map(|name| members.get(*name));
                let by_pattern = by_pattern.into_iter().flat_map(Map::values);
                pairs.extend(own.into_iter().chain(others).chain(by_pattern).map(|part| (part, value)));
            }
        }
        Value::Array(values) => {
            let parts: Vec<&Value> =
                ["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"]
                    .iter()
                    .filter_map(|name| members.get(*name))
                    .flat_map(|part| part.as_array().map_or(std::slice::from_ref(part), Vec::as_slice))
                    .collect();
            pairs.extend(values.iter().flat_map(|value| parts.iter().map(move |part| (*part, value))));
        }
    }
    pairs
}
