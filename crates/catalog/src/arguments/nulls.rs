//! Removes optional arguments that are null where the schema does not allow null, at every level.
//!
//! Many models write null for a property they do not set. A null is removed only if the property is optional
//! and its schema does not accept null. The result is validated again, so a wrong guess here never lets
//! invalid arguments through. The schema is untrusted: the steps are counted, and beyond the limit the
//! arguments stay unchanged.

use serde_json::{Map, Value};

use super::refs::SchemaRefs;

/// The maximum number of schema parts visited for one set of arguments; some milliseconds.
const STEPS: u32 = 20_000;

/// The maximum number of references and alternatives followed for one value.
const HOPS: u32 = 16;

/// The arguments without the nulls that are optional and not allowed; `None` if there are none.
pub(super) fn without_optional_nulls(schema: &Value, arguments: &Value) -> Option<Value> {
    let mut pruned = arguments.clone();
    let mut pruning = NullPruner { refs: SchemaRefs::new(schema), left: STEPS, dropped: 0 };
    pruning.prune_value(schema, &mut pruned);
    (pruning.dropped > 0 && pruning.left > 0).then_some(pruned)
}

struct NullPruner<'s> {
    refs: SchemaRefs<'s>,
    /// The number of steps left.
    left: u32,
    dropped: usize,
}

impl<'s> NullPruner<'s> {
    fn prune_value(&mut self, schema: &'s Value, value: &mut Value) {
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
                self.prune_value(schema, element);
            }
        }
    }

    fn prune_object(&mut self, parts: &[&'s Map<String, Value>], members: &mut Map<String, Value>) {
        let before = members.len();
        members.retain(|name, value| {
            !value.is_null()
                || parts.iter().any(|part| is_required(part, name))
                || self.takes_null_for(parts, name)
        });
        self.dropped += before - members.len();
        for (name, value) in members {
            for schema in parts.iter().filter_map(|part| schema_of_member(part, name)) {
                self.prune_value(schema, value);
            }
        }
    }

    /// Collects the schema parts that all apply to `value`: the schema itself, its references, and an
    /// alternative if it is the only one for values of this type.
    fn collect_parts(
        &mut self,
        schema: &'s Value,
        value: &Value,
        hops: u32,
        parts: &mut Vec<&'s Map<String, Value>>,
    ) {
        let (Some(members), true) = (schema.as_object(), self.count_step() && hops > 0) else { return };
        parts.push(members);
        for target in self.refs.targets(members).unwrap_or_default() {
            self.collect_parts(target, value, hops - 1, parts);
        }
        for part in schemas_of_keyword(members, "allOf") {
            self.collect_parts(part, value, hops - 1, parts);
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut fitting = Vec::new();
            for alternative in schemas_of_keyword(members, keyword) {
                if self.takes_type_of(alternative, value, hops - 1) {
                    fitting.push(alternative);
                }
            }
            if let [only] = fitting.as_slice() {
                self.collect_parts(only, value, hops - 1, parts);
            }
        }
    }

    /// Whether all these parts accept null for the property. If unknown, they do.
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

    /// Whether the schema accepts values of this type, and null if the value is null. If unknown, it does.
    fn takes_type_of(&mut self, schema: &'s Value, value: &Value, hops: u32) -> bool {
        let members = match schema {
            Value::Bool(takes_all) => return *takes_all,
            Value::Object(members) if self.count_step() && hops > 0 => members,
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
        let all = schemas_of_keyword(members, "allOf").chain(targets).collect::<Vec<_>>();
        if !all.into_iter().all(|part| self.takes_type_of(part, value, hops - 1)) {
            return false;
        }
        ["anyOf", "oneOf"].into_iter().all(|keyword| {
            let mut alternatives = schemas_of_keyword(members, keyword).peekable();
            alternatives.peek().is_none()
                || alternatives.any(|alternative| self.takes_type_of(alternative, value, hops - 1))
        })
    }

    /// Counts a step; returns whether any are left.
    fn count_step(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

fn is_required(part: &Map<String, Value>, name: &str) -> bool {
    part.get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|known| known == name))
}

/// The schema of a property in one part; `None` if `patternProperties` make it uncertain.
fn schema_of_member<'s>(part: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    let named = part.get("properties").and_then(|properties| properties.get(name));
    let others = part.get("additionalProperties").filter(|_| !part.contains_key("patternProperties"));
    named.or(others)
}

/// The schema of an array element in one part, in all drafts.
fn schema_of_element(part: &Map<String, Value>, index: usize) -> Option<&Value> {
    let at =
        |keyword: &str| part.get(keyword).and_then(Value::as_array).and_then(|schemas| schemas.get(index));
    let rest = part.get("items").filter(|items| !items.is_array()).or_else(|| part.get("additionalItems"));
    at("prefixItems").or_else(|| at("items")).or(rest)
}

fn schemas_of_keyword<'s>(
    members: &'s Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'s Value> + use<'s> {
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
