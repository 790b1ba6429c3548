//! Recognizes schemas that an API accepts unchanged: most of them, and these stay the same to the byte.

use mcparley_model::limits::{MODEL_SCHEMA_DEPTH, MODEL_SCHEMA_PARTS};
use serde_json::{Map, Value};

use super::Dialect;
use super::keyword::{KeywordShape, keyword_shape};

/// Keywords for references and ids, and those that newer drafts have split up: schemas with them are
/// rewritten.
const UNCLEAR: [&str; 10] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "dependencies",
];

/// Whether the API accepts a tool with this argument schema.
pub(super) fn is_accepted(dialect: Dialect, schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let refused: &[&str] = match dialect {
        Dialect::Anthropic => &["anyOf", "oneOf", "allOf"],
        Dialect::OpenAi | Dialect::OpenAiChat => &["anyOf", "oneOf", "allOf", "enum", "const", "not"],
        // Gemini's format is a subset of OpenAPI, not JSON Schema.
        Dialect::Gemini => return false,
    };
    let is_object = map.get("type").is_some_and(|kind| kind == "object");
    let mut left = MODEL_SCHEMA_PARTS;
    is_object
        && !refused.iter().any(|name| map.contains_key(*name))
        && accepts_schema(dialect, map, 0, &mut left)
}

fn accepts_schema(dialect: Dialect, map: &Map<String, Value>, depth: usize, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    if depth > MODEL_SCHEMA_DEPTH || *left == 0 || !is_complete(dialect, map) {
        return false;
    }
    map.iter().all(|(name, value)| {
        let is_unclear = UNCLEAR.contains(&name.as_str());
        let shape = keyword_shape(name);
        let has_names = name == "properties";
        !is_unclear
            && shape.is_none_or(|shape| shape.accepts_value(value))
            && (!has_names || property_keys(value).all(|name| dialect.takes_property(name)))
            && nested_schemas(shape, value).all(|schema| accepts_schema(dialect, schema, depth + 1, left))
    })
}

/// Whether an object or array has the keywords that OpenAI requires, and none that it rejects in nested
/// schemas.
fn is_complete(dialect: Dialect, map: &Map<String, Value>) -> bool {
    match dialect {
        Dialect::Anthropic => true,
        Dialect::OpenAi | Dialect::OpenAiChat | Dialect::Gemini => {
            let is = |kind: &str| {
                map.get("type").is_some_and(|types| {
                    types == kind || types.as_array().is_some_and(|types| types.iter().any(|one| one == kind))
                })
            };
            let has = |name: &str| map.contains_key(name);
            (!is("object") || has("properties"))
                && (!is("array") || has("items"))
                && !["allOf", "oneOf", "prefixItems"].into_iter().any(has)
        }
    }
}

fn property_keys(value: &Value) -> impl Iterator<Item = &str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str)
}

/// The subschemas within a keyword's value. `true` and `false` need no check.
fn nested_schemas(
    shape: Option<KeywordShape>,
    value: &Value,
) -> Box<dyn Iterator<Item = &Map<String, Value>> + '_> {
    match shape {
        Some(KeywordShape::Schema) => Box::new(value.as_object().into_iter()),
        Some(KeywordShape::Schemas) => {
            Box::new(value.as_array().into_iter().flatten().filter_map(Value::as_object))
        }
        Some(KeywordShape::NamedSchemas) => {
            Box::new(value.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_object))
        }
        _ => Box::new(std::iter::empty()),
    }
}
