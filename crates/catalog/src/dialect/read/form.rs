//! Turns the conditions on one value, without alternatives, into one form.

use std::collections::HashSet;

use mcparley_model::limits::MODEL_CHOICES;
use serde_json::{Map, Value};

use super::super::json_types::JsonTypes;
use super::super::keyword;
use super::super::plain_schema::{
    ArrayForm, ObjectForm, OtherProperties, PlainSchema, ValueForm, ValueLimits,
};
use super::SchemaReader;
use super::case::SchemaCase;

pub(super) type SchemaMaps<'m, 's> = &'m [&'s Map<String, Value>];

/// Keywords that apply to values of one type only, and so imply the type if none is stated.
const TELLING: [(JsonTypes, &[&str]); 4] = [
    (
        JsonTypes::OBJECT,
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "maxProperties",
            "propertyNames",
        ],
    ),
    (JsonTypes::ARRAY, &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
    (
        JsonTypes::STRING,
        &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"],
    ),
    (JsonTypes::NUMBER, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

impl<'s> SchemaReader<'s> {
    /// The form of a value without alternatives.
    pub(super) fn read_form(&mut self, case: &SchemaCase<'s>, depth: usize) -> PlainSchema {
        if let Some(choices) = allowed_values(&case.maps) {
            return choice_schema(choices);
        }
        let Some(kinds) = allowed_types(&case.maps) else { return PlainSchema::from_form(ValueForm::Any) };
        let parts = kinds
            .to_list()
            .into_iter()
            .map(|kind| PlainSchema::from_form(self.read_type(kind, case, depth)))
            .collect();
        PlainSchema::one_of(parts)
    }

    fn read_type(&mut self, kind: JsonTypes, case: &SchemaCase<'s>, depth: usize) -> ValueForm {
        match kind {
            JsonTypes::NULL => ValueForm::Null,
            JsonTypes::OBJECT => ValueForm::Object(self.read_object(case, depth)),
            JsonTypes::ARRAY => ValueForm::List(self.read_array(case, depth)),
            kind => ValueForm::Plain { kind, limits: read_limits(&case.maps, kind) },
        }
    }

    fn read_array(&mut self, case: &SchemaCase<'s>, depth: usize) -> ArrayForm {
        let tuple = case.maps.iter().find_map(|map| keyword::tuple_items(map));
        let first = tuple.map(|(first, _)| first).unwrap_or_default();
        let first = first.iter().map(|element| self.read_value(&[element], case, depth + 1)).collect();
        let of_all = |map: &&'s Map<String, Value>| map.get("items").filter(|items| !items.is_array());
        let mut rest: Vec<&Value> = case.maps.iter().filter_map(of_all).collect();
        rest.extend(tuple.and_then(|(_, rest)| rest));
        let rest = if rest.contains(&&Value::Bool(false)) {
            None
        } else {
            Some(Box::new(self.read_value(&rest, case, depth + 1)))
        };
        ArrayForm { first, rest, limits: read_limits(&case.maps, JsonTypes::ARRAY) }
    }

    pub(super) fn read_object(&mut self, case: &SchemaCase<'s>, depth: usize) -> ObjectForm {
        let mut properties = Vec::new();
        for (name, schemas) in schemas_by_property(&case.maps) {
            if !schemas.contains(&&Value::Bool(false)) {
                properties.push((name.to_owned(), self.read_value(&schemas, case, depth + 1)));
            }
        }
        let rest = self.read_other_properties(case, depth);
        with_required(properties, required_properties(&case.maps), rest)
    }

    pub(super) fn read_other_properties(&mut self, case: &SchemaCase<'s>, depth: usize) -> OtherProperties {
        let has_patterns = case.maps.iter().any(|map| map.contains_key("patternProperties"));
        let others: Vec<&Value> =
            case.maps.iter().filter_map(|map| map.get("additionalProperties")).collect();
        if others.contains(&&Value::Bool(false)) {
            return if has_patterns { OtherProperties::Open } else { OtherProperties::Closed };
        }
        let schemas: Vec<&Value> = others.into_iter().filter(|schema| super::is_filled(schema)).collect();
        if schemas.is_empty() || has_patterns {
            return OtherProperties::Open;
        }
        OtherProperties::Of(Box::new(self.read_value(&schemas, case, depth + 1)))
    }
}

/// An object in which every required property has a schema.
pub(super) fn with_required(
    mut properties: Vec<(String, PlainSchema)>,
    mut required: Vec<String>,
    rest: OtherProperties,
) -> ObjectForm {
    let known: HashSet<String> = properties.iter().map(|(name, _)| name.clone()).collect();
    if rest == OtherProperties::Closed {
        required.retain(|name| known.contains(name));
    }
    let unknown = required.iter().filter(|name| !known.contains(*name));
    properties.extend(unknown.map(|name| (name.clone(), PlainSchema::from_form(ValueForm::Any))));
    ObjectForm { properties, required, rest }
}

/// The schemas of each property, in the order of first mention.
pub(super) fn schemas_by_property<'s>(maps: SchemaMaps<'_, 's>) -> Vec<(&'s str, Vec<&'s Value>)> {
    let mut places = std::collections::HashMap::new();
    let mut named: Vec<(&str, Vec<&Value>)> = Vec::new();
    for (name, schema) in maps.iter().filter_map(|map| map.get("properties")?.as_object()).flatten() {
        let place = *places.entry(name.as_str()).or_insert_with(|| {
            named.push((name, Vec::new()));
            named.len() - 1
        });
        if let Some((_, schemas)) = named.get_mut(place) {
            schemas.push(schema);
        }
    }
    named
}

/// The required properties.
pub(super) fn required_properties(maps: SchemaMaps<'_, '_>) -> Vec<String> {
    let all = maps.iter().filter_map(|map| map.get("required")?.as_array()).flatten();
    let mut seen = HashSet::new();
    all.filter_map(Value::as_str).filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

/// The allowed types of a value; `None` if any type is allowed.
pub(super) fn allowed_types(maps: SchemaMaps<'_, '_>) -> Option<JsonTypes> {
    let stated = maps.iter().filter_map(|map| JsonTypes::from_keyword(map.get("type")?));
    let stated = stated.reduce(JsonTypes::intersection).filter(|kinds| *kinds != JsonTypes::NONE);
    stated.or_else(|| {
        let is_told =
            |keywords: &[&str]| maps.iter().any(|map| keywords.iter().any(|name| map.contains_key(*name)));
        let mut told = TELLING.iter().filter(|(_, keywords)| is_told(keywords)).map(|(kind, _)| *kind);
        told.next().filter(|_| told.next().is_none())
    })
}

/// The allowed values, if they are listed and there are not too many.
fn allowed_values(maps: SchemaMaps<'_, '_>) -> Option<Vec<Value>> {
    let listed = |map: &&Map<String, Value>| match (map.get("const"), map.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        (None, _) => None,
    };
    let stated = maps
        .iter()
        .filter_map(|map| JsonTypes::from_keyword(map.get("type")?))
        .reduce(JsonTypes::intersection);
    let mut lists = maps.iter().filter_map(listed);
    let mut values = lists.next()?;
    for list in lists {
        let list: HashSet<String> = list.iter().map(Value::to_string).collect();
        values.retain(|value| list.contains(&value.to_string()));
    }
    let mut seen = HashSet::new();
    values.retain(|value| {
        stated.is_none_or(|kinds| kinds.contains(JsonTypes::from_value(value)))
            && seen.insert(value.to_string())
    });
    (!values.is_empty() && values.len() <= MODEL_CHOICES).then_some(values)
}

fn choice_schema(mut values: Vec<Value>) -> PlainSchema {
    let count = values.len();
    values.retain(|value| !value.is_null());
    if values.is_empty() {
        return PlainSchema::from_form(ValueForm::Null);
    }
    PlainSchema { nullable: values.len() < count, ..PlainSchema::from_form(ValueForm::Choice(values)) }
}

/// The limits on values of a type; of two limits with the same keyword the first.
fn read_limits(maps: SchemaMaps<'_, '_>, kind: JsonTypes) -> ValueLimits {
    let mut limits: ValueLimits = Vec::new();
    for name in keyword::limits_of(kind) {
        let found = maps.iter().find_map(|map| keyword::limit_value(map, name));
        limits.extend(found.map(|value| (*name, value)));
    }
    limits
}
