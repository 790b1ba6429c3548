//! Gathers what applies to one value: its own keywords, those it refers to, and the cases it may be.

use mcparley_model::limits::MODEL_ALTERNATIVES;
use serde_json::{Map, Value};

use super::super::kinds::Kinds;
use super::{Reader, form};

/// How many schemas one value is read with at most.
const LAYERS: usize = 64;

const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// What applies to one value at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Case<'s> {
    pub(super) maps: Vec<&'s Map<String, Value>>,
    /// What was referred to on the way here: meeting it again would never end.
    pub(super) trail: Vec<*const Value>,
    /// The reference that leads back to where it came from.
    pub(super) again: Option<(&'s str, &'s Value)>,
    /// A reference that leads out of the schema or nowhere. Nothing is ever fetched.
    pub(super) outside: Option<&'s str>,
    /// There is more than can be told.
    pub(super) is_cut: bool,
    /// Nothing fits.
    pub(super) is_never: bool,
}

impl<'s> Reader<'s> {
    /// Adds a schema, what it refers to and what it consists of.
    pub(super) fn gather(&mut self, schema: &'s Value, case: &mut Case<'s>) {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(fits) => {
                case.is_never |= !fits;
                return;
            }
            // Not a schema at all: it says nothing.
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return,
        };
        if case.maps.len() >= LAYERS || !self.spend() {
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
                    self.follow(name.unwrap_or_default(), target, case);
                }
            }
        }
        let all = map.get("allOf").and_then(Value::as_array);
        for schema in all.into_iter().flatten() {
            self.gather(schema, case);
        }
    }

    fn follow(&mut self, name: &'s str, target: &'s Value, case: &mut Case<'s>) {
        let address = std::ptr::from_ref(target);
        if case.trail.contains(&address) {
            case.again = Some((name, target));
            case.is_cut = true;
            return;
        }
        case.trail.push(address);
        self.gather(target, case);
    }

    /// The cases of a value, each with all that applies to it; none if there are no alternatives. Tells whether these
    /// are all.
    pub(super) fn cases(&mut self, common: &Case<'s>) -> (Vec<Case<'s>>, bool) {
        if !common.maps.iter().any(|map| UNIONS.iter().any(|name| options(map, name).is_some())) {
            return (Vec::new(), true);
        }
        let mut cases = Vec::new();
        let all = self.split(common.clone(), 0, &mut cases);
        (cases, all)
    }

    /// Splits a case at its first union behind `from`, and what comes of it at the next.
    fn split(&mut self, case: Case<'s>, from: usize, cases: &mut Vec<Case<'s>>) -> bool {
        let union = (from..UNIONS.len() * case.maps.len()).find_map(|place| {
            let map = case.maps.get(place / UNIONS.len())?;
            Some((place, options(map, UNIONS.get(place % UNIONS.len())?)?))
        });
        let Some((place, options)) = union else {
            cases.push(case);
            return true;
        };
        for option in options {
            if cases.len() >= MODEL_ALTERNATIVES || !self.spend() {
                return false;
            }
            let mut one = case.clone();
            self.gather(option, &mut one);
            if !one.is_never && !self.split(one, place + 1, cases) {
                return false;
            }
        }
        true
    }
}

fn options<'s>(map: &'s Map<String, Value>, name: &str) -> Option<&'s Vec<Value>> {
    map.get(name).and_then(Value::as_array).filter(|options| !options.is_empty())
}

impl<'s> Case<'s> {
    /// What it has that the common part has not.
    pub(super) fn own(&self, common: &Self) -> Self {
        let maps = self.maps.get(common.maps.len()..).unwrap_or_default().to_vec();
        let again = self.again.filter(|_| common.again.is_none());
        let outside = self.outside.filter(|_| common.outside.is_none());
        Self { maps, again, outside, ..Self::default() }
    }

    /// Whether it is an object, or null in its place.
    pub(super) fn is_object(&self) -> bool {
        form::kinds(&self.maps).is_none_or(|kinds| kinds.without(Kinds::NULL) == Kinds::OBJECT)
    }

    /// Whether all it says is which properties must be there.
    pub(super) fn only_requires(&self) -> bool {
        let says_more = |map: &&Map<String, Value>| {
            map.keys().any(|name| {
                !matches!(name.as_str(), "required" | "title" | "description" | "type" | "anyOf" | "oneOf")
            })
        };
        self.maps.iter().any(|map| map.contains_key("required")) && !self.maps.iter().any(says_more)
    }

    /// The types of what is not looked into.
    pub(super) fn cut_kinds(&self) -> Kinds {
        let again = self.again.and_then(|(_, target)| target.as_object());
        let maps: Vec<_> = self.maps.iter().copied().chain(again).collect();
        form::kinds(&maps).unwrap_or(Kinds::ALL)
    }
}
