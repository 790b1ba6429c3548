//! Leaves out optional arguments that are null and must not be, at every level of the arguments.
//!
//! Many models write null for a property they do not give. A null is left out only where the schema says both: the property
//! is optional, and null is no value of it. Whether the rest fits is for the validator to decide, so that a wrong guess here
//! never lets anything through. The schema is a stranger's: what is looked at is counted, and too much of it changes nothing.

use serde_json::{Map, Value};

use super::refs::Refs;

/// How many parts of the schema are looked at for one set of arguments; some milliseconds.
const STEPS: u32 = 20_000;

/// How many references and alternatives are followed for one value.
const HOPS: u32 = 16;

/// The arguments without the optional ones that are null and must not be; nothing where there are none.
pub(super) fn without_optional_nulls(schema: &Value, arguments: &Value) -> Option<Value> {
    let mut pruned = arguments.clone();
    let mut pruning = Pruning { refs: Refs::new(schema), left: STEPS, dropped: 0 };
    pruning.prune(schema, &mut pruned);
    (pruning.dropped > 0 && pruning.left > 0).then_some(pruned)
}

struct Pruning<'s> {
    refs: Refs<'s>,
    /// How many steps are left.
    left: u32,
    dropped: usize,
}

impl<'s> Pruning<'s> {
    fn prune(&mut self, schema: &'s Value, value: &mut Value) {
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return;
        }
        let mut parts = Vec::new();
        self.collect_parts(schema, value, HOPS, &mut parts);
        match value {
            Value::Object(members) => self.prune_object(&parts, members),
            Value::Array(elements) => self.prune_elements(&parts, elements),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn prune_elements(&mut self, parts: &[&'s Map<String, Value>], elements: &mut [Value]) {
        for (index, element) in elements.iter_mut().enumerate() {
            for schema in parts.iter().filter_map(|part| schema_of_element(part, index)) {
                self.prune(schema, element);
            }
        }
    }

    fn prune_object(&mut self, parts: &[&'s Map<String, Value>], members: &mut Map<String, Value>) {
        let before = members.len();
        members.retain(|name, value| {
            !value.is_null()
                || parts.iter().any(|part| requires(part, name))
                || self.takes_null_for(parts, name)
        });
        self.dropped += before - members.len();
        for (name, value) in members {
            for schema in parts.iter().filter_map(|part| schema_of_member(part, name)) {
                self.prune(schema, value);
            }
        }
    }

    /// The parts of the schema that hold for `value` all at once: the schema itself, all it refers to, and an alternative
    /// that is the only one for a value of this type.
    fn collect_parts(
        &mut self,
        schema: &'s Value,
        value: &Value,
        hops: u32,
        parts: &mut Vec<&'s Map<String, Value>>,
    ) {
        let (Some(members), true) = (schema.as_object(), self.step() && hops > 0) else { return };
        parts.push(members);
        for target in self.refs.targets(members).unwrap_or_default() {
            self.collect_parts(target, value, hops - 1, parts);
        }
        for part in schemas(members, "allOf") {
            self.collect_parts(part, value, hops - 1, parts);
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut fitting = Vec::new();
            for alternative in schemas(members, keyword) {
                if self.takes_type_of(alternative, value, hops - 1) {
                    fitting.push(alternative);
                }
            }
            if let [only] = fitting.as_slice() {
                self.collect_parts(only, value, hops - 1, parts);
            }
        }
    }

    /// Whether all these parts take null for the property; where that cannot be told, they do.
    fn takes_null_for(&mut self, parts: &[&'s Map<String, Value>], name: &str) -> bool {
        let is_known = parts.iter().any(|part| schema_of_member(part, name).is_some());
        let is_closed =
            parts.iter().any(|part| part.get("unevaluatedProperties") == Some(&Value::Bool(false)));
        if is_closed && !is_known && parts.iter().all(|part| !part.contains_key("patternProperties")) {
            return false;
        }
        parts.iter().all(|part| {
            schema_of_member(part, name).is_none_or(|schema| self.takes_type_of(schema, &Value::Null, HOPS))
        })
    }

    /// Whether the schema takes values of this type, and null as it is; where that cannot be told, it does.
    fn takes_type_of(&mut self, schema: &'s Value, value: &Value, hops: u32) -> bool {
        let members = match schema {
            Value::Bool(takes_all) => return *takes_all,
            Value::Object(members) if self.step() && hops > 0 => members,
            _ => return true,
        };
        let is_type_taken = match members.get("type") {
            Some(Value::String(kind)) => kind == type_name(value),
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == type_name(value)),
            _ => true,
        };
        let is_value_taken = match (members.get("const"), members.get("enum")) {
            _ if !value.is_null() => true,
            (Some(constant), _) => constant.is_null(),
            (None, Some(Value::Array(values))) => values.iter().any(Value::is_null),
            (None, _) => true,
        };
        if !is_type_taken || !is_value_taken {
            return false;
        }
        let targets = self.refs.targets(members).unwrap_or_default();
        let all = schemas(members, "allOf").chain(targets).collect::<Vec<_>>();
        if !all.into_iter().all(|part| self.takes_type_of(part, value, hops - 1)) {
            return false;
        }
        ["anyOf", "oneOf"].into_iter().all(|keyword| {
            let mut alternatives = schemas(members, keyword).peekable();
            alternatives.peek().is_none()
                || alternatives.any(|alternative| self.takes_type_of(alternative, value, hops - 1))
        })
    }

    /// Counts a step; none is left when there were too many.
    fn step(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

fn requires(part: &Map<String, Value>, name: &str) -> bool {
    part.get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|known| known == name))
}

/// The schema of a property in one part. One that a pattern may be about has none that is known for certain.
fn schema_of_member<'s>(part: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    let named = part.get("properties").and_then(|properties| properties.get(name));
    let others = part.get("additionalProperties").filter(|_| !part.contains_key("patternProperties"));
    named.or(others)
}

/// The schema of an array's element in one part, in all dialects.
fn schema_of_element(part: &Map<String, Value>, index: usize) -> Option<&Value> {
    let at =
        |keyword: &str| part.get(keyword).and_then(Value::as_array).and_then(|schemas| schemas.get(index));
    let rest = part.get("items").filter(|items| !items.is_array()).or_else(|| part.get("additionalItems"));
    at("prefixItems").or_else(|| at("items")).or(rest)
}

fn schemas<'s>(members: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    members.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;
