//! Fills in a schema as a model would that reads only the given definition.

use serde_json::{Map, Value, json};

/// Texts for the patterns that real servers have.
const TEXTS: [&str; 8] = [
    // Escaped once too often.
    r"\ddd",
    "#aabbcc",
    "GET",
    "200",
    "team",
    "timestamp:asc",
    "count:asc",
    "1-00000000-0000-0000-0000-000000000000",
];

/// The amount of optional fields that are filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    Required,
}

/// A value that fits the schema.
pub(crate) fn of(schema: &Value, extent: Extent) -> Value {
    if let Some(value) = schema.get("enum").and_then(|values| values.get(0)) {
        return value.clone();
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(first) = alternatives.and_then(|all| all.first()) {
        return of(first, extent);
    }
    if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
        let parts = all.iter().map(|one| of(one, extent)).filter_map(|part| part.as_object().cloned());
        return Value::Object(parts.flatten().collect());
    }
    let kind = schema.get("type").map(|kind| kind.as_str().or_else(|| kind[0].as_str()).unwrap());
    match kind {
        Some("object") => object(schema, extent),
        Some("array") => array(schema, extent),
        Some("string") => json!(text(schema)),
        Some("integer" | "number") => number(schema),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => json!("anything"),
    }
}

fn object(schema: &Value, extent: Extent) -> Value {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let wanted =
        properties.iter().filter(|(name, _)| extent == Extent::All || required.contains(&json!(name)));
    Value::Object(wanted.map(|(name, schema)| (name.clone(), of(schema, extent))).collect())
}

fn array(schema: &Value, extent: Extent) -> Value {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let count = least.max(1).min(most);
    (0..count).map(|_| schema.get("items").map_or(Value::Null, |items| of(items, extent))).collect()
}

/// A text in the form that a pattern, a remark or a length asks for.
fn text(schema: &Value) -> String {
    let described = schema["description"].as_str().unwrap_or_default();
    if let Some((_, inner)) = described.split_once("Written as JSON text of the schema ") {
        let inner = inner.split(" Default: ").next().unwrap();
        return serde_json::from_str(inner)
            .map_or("{}".to_owned(), |inner| of(&inner, Extent::All).to_string());
    }
    if schema.get("pattern").is_some() {
        let fits = |text: &&&str| jsonschema::is_valid(schema, &json!(text));
        let found = TEXTS.iter().find(fits);
        return (*found.unwrap_or_else(|| panic!("no text for {schema}"))).to_owned();
    }
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    "a".repeat(usize::try_from(least.max(3)).unwrap())
}

fn number(schema: &Value) -> Value {
    let above = schema.get("exclusiveMinimum").and_then(Value::as_i64).map(|least| least + 1);
    let least = schema.get("minimum").and_then(Value::as_i64).or(above).unwrap_or(1);
    let most = schema.get("maximum").and_then(Value::as_i64).unwrap_or(i64::MAX);
    json!(least.max(1).min(most))
}
