//! Recognises the schemas that an API takes as they are: most of them, and these stay untouched to the byte (N8).

use mcparley_model::limits::{MODEL_SCHEMA_DEPTH, MODEL_SCHEMA_PARTS};
use serde_json::{Map, Value};

use super::Dialect;
use super::keyword::{Shape, shape};

/// Keywords that lead elsewhere, that name a place to be led to, or that newer drafts have split up.
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

/// Whether the API takes a tool with these arguments.
pub(super) fn is_accepted(dialect: Dialect, schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let refused: &[&str] = match dialect {
        Dialect::Anthropic => &["anyOf", "oneOf", "allOf"],
        Dialect::OpenAi | Dialect::OpenAiChat => &["anyOf", "oneOf", "allOf", "enum", "const", "not"],
        // Its schemas are of another kind altogether.
        Dialect::Gemini => return false,
    };
    let is_object = map.get("type").is_some_and(|kind| kind == "object");
    let mut left = MODEL_SCHEMA_PARTS;
    is_object && !refused.iter().any(|name| map.contains_key(*name)) && takes(dialect, map, 0, &mut left)
}

fn takes(dialect: Dialect, map: &Map<String, Value>, depth: usize, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    if depth > MODEL_SCHEMA_DEPTH || *left == 0 || !is_complete(dialect, map) {
        return false;
    }
    map.iter().all(|(name, value)| {
        let is_unclear = UNCLEAR.contains(&name.as_str());
        let shape = shape(name);
        let has_names = name == "properties";
        !is_unclear
            && shape.is_none_or(|shape| shape.fits(value))
            && (!has_names || names(value).all(|name| dialect.takes_property(name)))
            && schemas(shape, value).all(|schema| takes(dialect, schema, depth + 1, left))
    })
}

/// What OpenAI wants to be said of every object and array, and what it does not take within.
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

fn names(value: &Value) -> impl Iterator<Item = &str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str)
}

/// The schemas within a keyword's value. What is only `true` or `false` has nothing to look at.
fn schemas(shape: Option<Shape>, value: &Value) -> Box<dyn Iterator<Item = &Map<String, Value>> + '_> {
    match shape {
        Some(Shape::Schema) => Box::new(value.as_object().into_iter()),
        Some(Shape::Schemas) => Box::new(value.as_array().into_iter().flatten().filter_map(Value::as_object)),
        Some(Shape::NamedSchemas) => {
            Box::new(value.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_object))
        }
        _ => Box::new(std::iter::empty()),
    }
}
