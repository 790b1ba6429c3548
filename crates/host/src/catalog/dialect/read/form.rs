//! Says the conditions on one value, none of which is an alternative, as one form.

use std::collections::HashSet;

use mcparley_model::limits::MODEL_CHOICES;
use serde_json::{Map, Value};

use super::super::keyword;
use super::super::kinds::Kinds;
use super::super::part::{Form, Limits, List, Object, Part, Rest};
use super::Reader;
use super::case::Case;

pub(super) type Maps<'m, 's> = &'m [&'s Map<String, Value>];

/// Keywords that speak of values of one type only, and so tell the type when nothing else does.
const TELLING: [(Kinds, &[&str]); 4] = [
    (
        Kinds::OBJECT,
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
    (Kinds::ARRAY, &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
    (Kinds::STRING, &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"]),
    (Kinds::NUMBER, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

impl<'s> Reader<'s> {
    /// The form of a value that has no alternatives left.
    pub(super) fn form(&mut self, case: &Case<'s>, depth: usize) -> Part {
        if let Some(choices) = choices(&case.maps) {
            return choice(choices);
        }
        let Some(kinds) = kinds(&case.maps) else { return Part::of(Form::Any) };
        let parts = kinds.each().into_iter().map(|kind| Part::of(self.of_kind(kind, case, depth))).collect();
        Part::one_of(parts)
    }

    fn of_kind(&mut self, kind: Kinds, case: &Case<'s>, depth: usize) -> Form {
        match kind {
            Kinds::NULL => Form::Null,
            Kinds::OBJECT => Form::Object(self.object(case, depth)),
            Kinds::ARRAY => Form::List(self.list(case, depth)),
            kind => Form::Plain { kind, limits: limits(&case.maps, kind) },
        }
    }

    fn list(&mut self, case: &Case<'s>, depth: usize) -> List {
        let tuple = case.maps.iter().find_map(|map| keyword::tuple(map));
        let first = tuple.map(|(first, _)| first).unwrap_or_default();
        let first = first.iter().map(|element| self.read(&[element], case, depth + 1)).collect();
        let of_all = |map: &&'s Map<String, Value>| map.get("items").filter(|items| !items.is_array());
        let mut rest: Vec<&Value> = case.maps.iter().filter_map(of_all).collect();
        rest.extend(tuple.and_then(|(_, rest)| rest));
        let rest = if rest.contains(&&Value::Bool(false)) {
            None
        } else {
            Some(Box::new(self.read(&rest, case, depth + 1)))
        };
        List { first, rest, limits: limits(&case.maps, Kinds::ARRAY) }
    }

    pub(super) fn object(&mut self, case: &Case<'s>, depth: usize) -> Object {
        let mut properties = Vec::new();
        for (name, schemas) in named(&case.maps) {
            if !schemas.contains(&&Value::Bool(false)) {
                properties.push((name.to_owned(), self.read(&schemas, case, depth + 1)));
            }
        }
        let rest = self.rest(case, depth);
        with_required(properties, required(&case.maps), rest)
    }

    pub(super) fn rest(&mut self, case: &Case<'s>, depth: usize) -> Rest {
        let has_patterns = case.maps.iter().any(|map| map.contains_key("patternProperties"));
        let others: Vec<&Value> =
            case.maps.iter().filter_map(|map| map.get("additionalProperties")).collect();
        if others.contains(&&Value::Bool(false)) {
            return if has_patterns { Rest::Open } else { Rest::Closed };
        }
        let schemas: Vec<&Value> = others.into_iter().filter(|schema| super::is_filled(schema)).collect();
        if schemas.is_empty() || has_patterns {
            return Rest::Open;
        }
        Rest::Of(Box::new(self.read(&schemas, case, depth + 1)))
    }
}

/// An object whose required properties all have a place.
pub(super) fn with_required(
    mut properties: Vec<(String, Part)>,
    mut required: Vec<String>,
    rest: Rest,
) -> Object {
    let known: HashSet<String> = properties.iter().map(|(name, _)| name.clone()).collect();
    if rest == Rest::Closed {
        required.retain(|name| known.contains(name));
    }
    let unknown = required.iter().filter(|name| !known.contains(*name));
    properties.extend(unknown.map(|name| (name.clone(), Part::of(Form::Any))));
    Object { properties, required, rest }
}

/// The schemas of each property, in the order in which they are first named.
pub(super) fn named<'s>(maps: Maps<'_, 's>) -> Vec<(&'s str, Vec<&'s Value>)> {
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

/// The properties that must be there.
pub(super) fn required(maps: Maps<'_, '_>) -> Vec<String> {
    let all = maps.iter().filter_map(|map| map.get("required")?.as_array()).flatten();
    let mut seen = HashSet::new();
    all.filter_map(Value::as_str).filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

/// The types a value may have; nothing if it may have any.
pub(super) fn kinds(maps: Maps<'_, '_>) -> Option<Kinds> {
    let stated = maps.iter().filter_map(|map| Kinds::read(map.get("type")?));
    let stated = stated.reduce(Kinds::and).filter(|kinds| *kinds != Kinds::NONE);
    stated.or_else(|| {
        let is_told =
            |keywords: &[&str]| maps.iter().any(|map| keywords.iter().any(|name| map.contains_key(*name)));
        let mut told = TELLING.iter().filter(|(_, keywords)| is_told(keywords)).map(|(kind, _)| *kind);
        told.next().filter(|_| told.next().is_none())
    })
}

/// The allowed values, if they are listed and there are not too many.
fn choices(maps: Maps<'_, '_>) -> Option<Vec<Value>> {
    let listed = |map: &&Map<String, Value>| match (map.get("const"), map.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        (None, _) => None,
    };
    let stated = maps.iter().filter_map(|map| Kinds::read(map.get("type")?)).reduce(Kinds::and);
    let mut lists = maps.iter().filter_map(listed);
    let mut values = lists.next()?;
    for list in lists {
        let list: HashSet<String> = list.iter().map(Value::to_string).collect();
        values.retain(|value| list.contains(&value.to_string()));
    }
    let mut seen = HashSet::new();
    values.retain(|value| {
        stated.is_none_or(|kinds| kinds.has(Kinds::of(value))) && seen.insert(value.to_string())
    });
    (!values.is_empty() && values.len() <= MODEL_CHOICES).then_some(values)
}

fn choice(mut values: Vec<Value>) -> Part {
    let count = values.len();
    values.retain(|value| !value.is_null());
    if values.is_empty() {
        return Part::of(Form::Null);
    }
    Part { nullable: values.len() < count, ..Part::of(Form::Choice(values)) }
}

/// What limits values of a type; of two that say the same thing the first.
fn limits(maps: Maps<'_, '_>, kind: Kinds) -> Limits {
    let mut limits: Limits = Vec::new();
    for name in keyword::limits_of(kind) {
        let found = maps.iter().find_map(|map| keyword::limit(map, name));
        limits.extend(found.map(|value| (*name, value)));
    }
    limits
}
