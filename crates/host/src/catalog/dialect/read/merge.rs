//! Puts alternatives that are all objects into one object: whatever fits one of them fits it.
//!
//! No API takes alternatives for the arguments of a tool as a whole. What is lost is which properties belong together;
//! that is told in words, and checked before a call.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::kinds::Kinds;
use super::super::part::{Object, Part, Rest};
use super::Reader;
use super::case::Case;
use super::form::{self, named, required, with_required};

impl<'s> Reader<'s> {
    /// `common` holds for all `cases`; `all` tells whether these are all there are.
    pub(super) fn merged(
        &mut self,
        common: &Case<'s>,
        cases: &[Case<'s>],
        all: bool,
        depth: usize,
    ) -> Object {
        let is_object =
            |case: &&Case<'s>| form::kinds(&case.maps).is_none_or(|kinds| kinds.has(Kinds::OBJECT));
        let own: Vec<Case<'s>> = cases.iter().filter(is_object).map(|case| case.own(common)).collect();
        let mut names = Names::default();
        let of_all = names.declared(common);
        let of_cases: Vec<Declared<'s>> = own.iter().map(|case| names.declared(case)).collect();
        let mut properties = Vec::new();
        for name in names.ordered {
            let base = of_all.get(name).map(Vec::as_slice).unwrap_or_default();
            let own: Vec<&[&Value]> =
                of_cases.iter().filter_map(|case| Some(case.get(name)?.as_slice())).collect();
            let is_everywhere = own.len() == of_cases.len();
            // Where a case is silent, only what is common to all can be said.
            let part = match own.is_empty() || (!base.is_empty() && !is_everywhere) {
                true => self.read(base, common, depth + 1),
                false => self.property(common, base, &own, depth),
            };
            properties.push((name.to_owned(), part));
        }
        let mut must = required(&common.maps);
        if all {
            must.extend(
                required_by_all(&own).into_iter().filter(|name| !must.contains(name)).collect::<Vec<_>>(),
            );
        }
        let is_closed = |case: &Case<'s>| {
            case.maps.iter().any(|map| map.get("additionalProperties") == Some(&Value::Bool(false)))
        };
        let rest = match self.rest(common, depth) {
            Rest::Open if all && !own.is_empty() && own.iter().all(is_closed) => Rest::Closed,
            rest => rest,
        };
        with_required(properties, must, rest)
    }

    /// A property that cases say something about.
    fn property(
        &mut self,
        common: &Case<'s>,
        base: &[&'s Value],
        cases: &[&[&'s Value]],
        depth: usize,
    ) -> Part {
        let mut seen: Vec<&[&Value]> = Vec::new();
        let mut parts = Vec::new();
        for own in cases {
            if !seen.contains(own) {
                seen.push(own);
                parts.push(self.read(&[base, own].concat(), common, depth + 1));
            }
        }
        Part::one_of(parts)
    }
}

/// What is said of each property that may be there.
type Declared<'s> = HashMap<&'s str, Vec<&'s Value>>;

/// The names of properties, in the order in which they are met.
#[derive(Default)]
struct Names<'s> {
    ordered: Vec<&'s str>,
    known: HashSet<&'s str>,
}

impl<'s> Names<'s> {
    fn declared(&mut self, case: &Case<'s>) -> Declared<'s> {
        let may_be = |(_, schemas): &(&str, Vec<&Value>)| !schemas.contains(&&Value::Bool(false));
        let declared: Vec<(&'s str, Vec<&'s Value>)> = named(&case.maps).into_iter().filter(may_be).collect();
        for (name, _) in &declared {
            if self.known.insert(name) {
                self.ordered.push(name);
            }
        }
        declared.into_iter().collect()
    }
}

/// The properties that every case demands.
fn required_by_all(cases: &[Case<'_>]) -> Vec<String> {
    let mut lists = cases.iter().map(|case| required(&case.maps));
    let Some(mut all) = lists.next() else { return Vec::new() };
    for list in lists {
        all.retain(|name| list.contains(name));
    }
    all
}
