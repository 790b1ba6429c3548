//! Schema cases: gathers the schemas that apply to one value, and splits them at unions.

use mcparley_model::limits::MODEL_ALTERNATIVES;
use serde_json::{Map, Value};

use super::super::json_types::JsonTypes;
use super::{SchemaReader, form};

/// The maximum number of schemas that apply to one value.
const LAYERS: usize = 64;

const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// The schemas that apply to one value at once.
#[derive(Clone, Debug, Default)]
pub(super) struct SchemaCase<'s> {
    pub(super) maps: Vec<&'s Map<String, Value>>,
    /// The reference targets on the way here; meeting one again means recursion.
    pub(super) trail: Vec<*const Value>,
    /// The recursive reference, if there is one.
    pub(super) again: Option<(&'s str, &'s Value)>,
    /// A reference that leads out of the schema or nowhere. Nothing is ever fetched.
    pub(super) outside: Option<&'s str>,
    /// Whether a limit was reached, so that schemas are missing.
    pub(super) is_cut: bool,
    /// Whether no value fits.
    pub(super) is_never: bool,
}

impl<'s> SchemaReader<'s> {
    /// Adds a schema, its references and its `allOf` members.
    pub(super) fn gather_schema(&mut self, schema: &'s Value, case: &mut SchemaCase<'s>) {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(fits) => {
                case.is_never |= !fits;
                return;
            }
            // Not a schema: it restricts nothing.
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return,
        };
        if case.maps.len() >= LAYERS || !self.spend_part() {
            case.is_cut = true;
            return;
        }
        case.maps.push(map);
        match self.refs.targets(map) {
            Err(reference) => case.outside = Some(reference),
            Ok(targets) => {
                let name =
                    ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|name| map.get(*name)?.as_str());
                for target in targets {
                    self.follow_reference(name.unwrap_or_default(), target, case);
                }
            }
        }
        let all = map.get("allOf").and_then(Value::as_array);
        for schema in all.into_iter().flatten() {
            self.gather_schema(schema, case);
        }
    }

    fn follow_reference(&mut self, name: &'s str, target: &'s Value, case: &mut SchemaCase<'s>) {
        let address = std::ptr::from_ref(target);
        if case.trail.contains(&address) {
            case.again = Some((name, target));
            case.is_cut = true;
            return;
        }
        case.trail.push(address);
        self.gather_schema(target, case);
    }

    /// Splits a value into its cases, each with all schemas that apply to it; empty if there are no
    /// alternatives.
    ///
    /// The flag tells whether the cases are complete.
    pub(super) fn split_cases(&mut self, common: &SchemaCase<'s>) -> (Vec<SchemaCase<'s>>, bool) {
        if !common.maps.iter().any(|map| UNIONS.iter().any(|name| union_options(map, name).is_some())) {
            return (Vec::new(), true);
        }
        let mut cases = Vec::new();
        let all = self.split_unions(common.clone(), 0, &mut cases);
        (cases, all)
    }

    /// Splits a case at its first union behind `from`, and the results at the next one.
    fn split_unions(&mut self, case: SchemaCase<'s>, from: usize, cases: &mut Vec<SchemaCase<'s>>) -> bool {
        let union = (from..UNIONS.len() * case.maps.len()).find_map(|place| {
            let map = case.maps.get(place / UNIONS.len())?;
            Some((place, union_options(map, UNIONS.get(place % UNIONS.len())?)?))
        });
        let Some((place, options)) = union else {
            cases.push(case);
            return true;
        };
        for option in options {
            if cases.len() >= MODEL_ALTERNATIVES || !self.spend_part() {
                return false;
            }
            let mut one = case.clone();
            self.gather_schema(option, &mut one);
            if !one.is_never && !self.split_unions(one, place + 1, cases) {
                return false;
            }
        }
        true
    }
}

fn union_options<'s>(map: &'s Map<String, Value>, name: &str) -> Option<&'s Vec<Value>> {
    map.get(name).and_then(Value::as_array).filter(|options| !options.is_empty())
}

impl<'s> SchemaCase<'s> {
    /// The schemas of this case without the common ones.
    pub(super) fn without_common(&self, common: &Self) -> Self {
        let maps = self.maps.get(common.maps.len()..).unwrap_or_default().to_vec();
        let again = self.again.filter(|_| common.again.is_none());
        let outside = self.outside.filter(|_| common.outside.is_none());
        Self { maps, again, outside, ..Self::default() }
    }

    /// Whether the value is an object, or null in its place.
    pub(super) fn is_object(&self) -> bool {
        form::allowed_types(&self.maps)
            .is_none_or(|kinds| kinds.difference(JsonTypes::NULL) == JsonTypes::OBJECT)
    }

    /// Whether the case only lists required properties.
    pub(super) fn only_requires(&self) -> bool {
        let says_more = |map: &&Map<String, Value>| {
            map.keys().any(|name| {
                !matches!(name.as_str(), "required" | "title" | "description" | "type" | "anyOf" | "oneOf")
            })
        };
        self.maps.iter().any(|map| map.contains_key("required")) && !self.maps.iter().any(says_more)
    }

    /// The types of a value whose schema is not read further.
    pub(super) fn cut_kinds(&self) -> JsonTypes {
        let again = self.again.and_then(|(_, target)| target.as_object());
        let maps: Vec<_> = self.maps.iter().copied().chain(again).collect();
        form::allowed_types(&maps).unwrap_or(JsonTypes::ALL)
    }
}
