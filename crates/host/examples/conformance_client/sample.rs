//! Makes up arguments that fit a tool's schema, as far as a small sampler can.

use serde_json::{Map, Value, json};

/// The maximum depth of a schema.
const DEPTH: usize = 8;

/// Arguments with every property that is required, and those optional ones that are plain.
pub(crate) fn arguments(schema: &Value) -> Value {
    object(schema, DEPTH)
}

fn object(schema: &Value, depth: usize) -> Value {
    let no_properties = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
    let wanted = properties.iter().filter(|(name, schema)| is_required(name) || is_plain(schema));
    Value::Object(wanted.map(|(name, schema)| (name.clone(), value(schema, depth))).collect())
}

/// Whether a value can be made up that fits for certain.
fn is_plain(schema: &Value) -> bool {
    let is_scalar = matches!(kind(schema), Some("string" | "integer" | "number" | "boolean"));
    is_scalar && schema.get("pattern").is_none() && schema.get("format").is_none()
}

fn value(schema: &Value, depth: usize) -> Value {
    if let Some(given) = given(schema) {
        return given;
    }
    if let Some(alternative) = alternative(schema).filter(|_| depth > 0) {
        return value(alternative, depth - 1);
    }
    match kind(schema) {
        Some("string") => text(schema),
        Some("integer" | "number") => number(schema),
        Some("boolean") => json!(true),
        Some("array") => array(schema, depth),
        Some("object") if depth > 0 => object(schema, depth - 1),
        Some(_) | None => Value::Null,
    }
}

/// A value that the schema itself names.
fn given(schema: &Value) -> Option<Value> {
    let first = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|values| values.first());
    let named = schema.get("const").or_else(|| schema.get("default"));
    named.or_else(|| first("enum")).or_else(|| first("examples")).cloned()
}

fn alternative(schema: &Value) -> Option<&Value> {
    let of = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|schemas| schemas.first());
    of("anyOf").or_else(|| of("oneOf")).or_else(|| of("allOf"))
}

fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    }
}

fn text(schema: &Value) -> Value {
    let shortest = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    let longest = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let length = usize::try_from(shortest.max(4).min(longest)).unwrap_or(4);
    match schema.get("format").and_then(Value::as_str) {
        Some("uri") => json!("https://example.com/"),
        Some("email") => json!("someone@example.com"),
        Some("date") => json!("2026-07-28"),
        Some("date-time") => json!("2026-07-28T00:00:00Z"),
        Some(_) | None => json!("text".chars().cycle().take(length).collect::<String>()),
    }
}

fn number(schema: &Value) -> Value {
    let smallest = schema.get("minimum").or_else(|| schema.get("maximum")).cloned();
    smallest.unwrap_or_else(|| json!(1))
}

fn array(schema: &Value, depth: usize) -> Value {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    match schema.get("items").filter(|_| depth > 0) {
        Some(items) => (0..least.min(8)).map(|_| value(items, depth - 1)).collect(),
        None => json!([]),
    }
}
