//! Which form the keywords of a schema have in draft 2020-12, and what older drafts meant by another.

use serde_json::{Map, Value};

use super::kinds::Kinds;

/// The form of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Flag,
    Number,
    Positive,
    Count,
    Kinds,
    Names,
    NamedNames,
    Values,
    Schema,
    Schemas,
    NamedSchemas,
}

/// The form of a keyword's value; nothing for words that are not ours to judge.
pub(super) fn shape(keyword: &str) -> Option<Shape> {
    Some(match keyword {
        "title" | "description" | "format" | "pattern" | "$comment" | "$schema" | "contentEncoding"
        | "contentMediaType" => Shape::Text,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Shape::Flag,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Shape::Number,
        "multipleOf" => Shape::Positive,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Shape::Count,
        "type" => Shape::Kinds,
        "required" => Shape::Names,
        "dependentRequired" => Shape::NamedNames,
        "enum" | "examples" => Shape::Values,
        "items"
        | "additionalProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            Shape::NamedSchemas
        }
        _ => return None,
    })
}

impl Shape {
    /// Whether a value has this form, whatever is within.
    pub(super) fn fits(self, value: &Value) -> bool {
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let are_names = |value: &Value| value.as_array().is_some_and(|names| are_distinct(names));
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            Self::Count => value.is_u64(),
            Self::Kinds => {
                Kinds::read(value).is_some() && value.as_array().is_none_or(|names| are_distinct(names))
            }
            Self::Names => are_names(value),
            Self::NamedNames => value.as_object().is_some_and(|named| named.values().all(are_names)),
            Self::Values => value.is_array(),
            Self::Schema => is_schema(value),
            Self::Schemas => value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_schema)),
            Self::NamedSchemas => value.as_object().is_some_and(|named| named.values().all(is_schema)),
        }
    }
}

fn are_distinct(names: &[Value]) -> bool {
    let mut seen = std::collections::HashSet::new();
    names.iter().all(|name| name.as_str().is_some_and(|name| seen.insert(name)))
}

/// The keywords that limit values of a type and that are said again.
pub(super) fn limits_of(kind: Kinds) -> &'static [&'static str] {
    match kind {
        Kinds::STRING => &["minLength", "maxLength", "pattern", "format"],
        Kinds::NUMBER | Kinds::INTEGER => {
            &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"]
        }
        Kinds::ARRAY => &["minItems", "maxItems", "uniqueItems"],
        _ => &[],
    }
}

/// What a limit is, in the way of 2020-12. Before 2016 an exclusive limit was a flag beside the limit.
pub(super) fn limit(map: &Map<String, Value>, name: &str) -> Option<Value> {
    let is_exclusive = |name: &str| map.get(name) == Some(&Value::Bool(true));
    let value = match name {
        "minimum" if is_exclusive("exclusiveMinimum") => None,
        "maximum" if is_exclusive("exclusiveMaximum") => None,
        "exclusiveMinimum" if is_exclusive(name) => map.get("minimum"),
        "exclusiveMaximum" if is_exclusive(name) => map.get("maximum"),
        name => map.get(name),
    };
    value.filter(|value| shape(name).is_some_and(|shape| shape.fits(value))).cloned()
}

/// What the first elements of an array are, one by one, and what the others are. Before 2020 this was said by `items`
/// and `additionalItems`.
pub(super) fn tuple(map: &Map<String, Value>) -> Option<(&[Value], Option<&Value>)> {
    if let Some(first) = map.get("prefixItems").and_then(Value::as_array) {
        return Some((first, None));
    }
    let first = map.get("items").and_then(Value::as_array)?;
    Some((first, map.get("additionalItems")))
}
