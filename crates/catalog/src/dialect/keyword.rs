//! Value shapes of JSON Schema keywords in draft 2020-12, and their variants in older drafts.

use serde_json::{Map, Value};

use super::json_types::JsonTypes;

/// The shape of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordShape {
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

/// The shape of a keyword's value; `None` for unknown keywords.
pub(super) fn keyword_shape(keyword: &str) -> Option<KeywordShape> {
    Some(match keyword {
        "title" | "description" | "format" | "pattern" | "$comment" | "$schema" | "contentEncoding"
        | "contentMediaType" => KeywordShape::Text,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => KeywordShape::Flag,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => KeywordShape::Number,
        "multipleOf" => KeywordShape::Positive,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => KeywordShape::Count,
        "type" => KeywordShape::Kinds,
        "required" => KeywordShape::Names,
        "dependentRequired" => KeywordShape::NamedNames,
        "enum" | "examples" => KeywordShape::Values,
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
        | "contentSchema" => KeywordShape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => KeywordShape::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            KeywordShape::NamedSchemas
        }
        _ => return None,
    })
}

impl KeywordShape {
    /// Whether a value has this shape, without looking into subschemas.
    pub(super) fn accepts_value(self, value: &Value) -> bool {
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let are_names = |value: &Value| value.as_array().is_some_and(|names| are_distinct(names));
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            Self::Count => value.is_u64(),
            Self::Kinds => {
                JsonTypes::from_keyword(value).is_some()
                    && value.as_array().is_none_or(|names| are_distinct(names))
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

/// The keywords that limit values of a type and that are printed again.
pub(super) fn limits_of(kind: JsonTypes) -> &'static [&'static str] {
    match kind {
        JsonTypes::STRING => &["minLength", "maxLength", "pattern", "format"],
        JsonTypes::NUMBER | JsonTypes::INTEGER => {
            &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"]
        }
        JsonTypes::ARRAY => &["minItems", "maxItems", "uniqueItems"],
        _ => &[],
    }
}

/// The value of a limit keyword in 2020-12 style. Before draft 6 an exclusive limit was a flag beside the
/// limit.
pub(super) fn limit_value(map: &Map<String, Value>, name: &str) -> Option<Value> {
    let is_exclusive = |name: &str| map.get(name) == Some(&Value::Bool(true));
    let value = match name {
        "minimum" if is_exclusive("exclusiveMinimum") => None,
        "maximum" if is_exclusive("exclusiveMaximum") => None,
        "exclusiveMinimum" if is_exclusive(name) => map.get("minimum"),
        "exclusiveMaximum" if is_exclusive(name) => map.get("maximum"),
        name => map.get(name),
    };
    value.filter(|value| keyword_shape(name).is_some_and(|shape| shape.accepts_value(value))).cloned()
}

/// The schemas of the first elements of an array, one by one, and of the others.
///
/// Before 2020-12 these were `items` and `additionalItems`.
pub(super) fn tuple_items(map: &Map<String, Value>) -> Option<(&[Value], Option<&Value>)> {
    if let Some(first) = map.get("prefixItems").and_then(Value::as_array) {
        return Some((first, None));
    }
    let first = map.get("items").and_then(Value::as_array)?;
    Some((first, map.get("additionalItems")))
}
