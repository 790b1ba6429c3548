//! Merges alternatives that are all objects into one object that accepts the arguments of each.
//!
//! No API accepts alternatives at the top level of a tool's arguments. The merged object loses which
//! properties belong together; that is added as a remark, and validated before a call.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::json_types::JsonTypes;
use super::super::plain_schema::{ObjectForm, OtherProperties, PlainSchema};
use super::SchemaReader;
use super::case::SchemaCase;
use super::form::{self, required_properties, schemas_by_property, with_required};

impl<'s> SchemaReader<'s> {
    /// Merges `cases` into one object. `common` applies to all of them; `all` tells whether they are
    /// complete.
    pub(super) fn merge_objects(
        &mut self,
        common: &SchemaCase<'s>,
        cases: &[SchemaCase<'s>],
        all: bool,
        depth: usize,
    ) -> ObjectForm {
        let is_object = |case: &&SchemaCase<'s>| {
            form::allowed_types(&case.maps).is_none_or(|kinds| kinds.contains(JsonTypes::OBJECT))
        };
        let own: Vec<SchemaCase<'s>> =
            cases.iter().filter(is_object).map(|case| case.without_common(common)).collect();
        let mut names = PropertyNames::default();
        let of_all = names.declare_properties(common);
        let of_cases: Vec<DeclaredProperties<'s>> =
            own.iter().map(|case| names.declare_properties(case)).collect();
        let mut properties = Vec::new();
        for name in names.ordered {
            let base = of_all.get(name).map(Vec::as_slice).unwrap_or_default();
            let own: Vec<&[&Value]> =
                of_cases.iter().filter_map(|case| Some(case.get(name)?.as_slice())).collect();
            let is_everywhere = own.len() == of_cases.len();
            // If a case does not mention the property, only the common schema applies.
            let part = if own.is_empty() || (!base.is_empty() && !is_everywhere) {
                self.read_value(base, common, depth + 1)
            } else {
                self.read_property(common, base, &own, depth)
            };
            properties.push((name.to_owned(), part));
        }
        let mut must = required_properties(&common.maps);
        if all {
            must.extend(
                common_required(&own).into_iter().filter(|name| !must.contains(name)).collect::<Vec<_>>(),
            );
        }
        let is_closed = |case: &SchemaCase<'s>| {
            case.maps.iter().any(|map| map.get("additionalProperties") == Some(&Value::Bool(false)))
        };
        let rest = match self.read_other_properties(common, depth) {
            OtherProperties::Open if all && !own.is_empty() && own.iter().all(is_closed) => {
                OtherProperties::Closed
            }
            rest => rest,
        };
        with_required(properties, must, rest)
    }

    /// Reads a property that some cases restrict.
    fn read_property(
        &mut self,
        common: &SchemaCase<'s>,
        base: &[&'s Value],
        cases: &[&[&'s Value]],
        depth: usize,
    ) -> PlainSchema {
        let mut seen: Vec<&[&Value]> = Vec::new();
        let mut parts = Vec::new();
        for own in cases {
            if !seen.contains(own) {
                seen.push(own);
                parts.push(self.read_value(&[base, own].concat(), common, depth + 1));
            }
        }
        PlainSchema::one_of(parts)
    }
}

/// The schemas of each property that may exist.
type DeclaredProperties<'s> = HashMap<&'s str, Vec<&'s Value>>;

/// The names of properties, in the order in which they are met.
#[derive(Default)]
struct PropertyNames<'s> {
    ordered: Vec<&'s str>,
    known: HashSet<&'s str>,
}

impl<'s> PropertyNames<'s> {
    fn declare_properties(&mut self, case: &SchemaCase<'s>) -> DeclaredProperties<'s> {
        let may_be = |(_, schemas): &(&str, Vec<&Value>)| !schemas.contains(&&Value::Bool(false));
        let declared: Vec<(&'s str, Vec<&'s Value>)> =
            schemas_by_property(&case.maps).into_iter().filter(may_be).collect();
        for (name, _) in &declared {
            if self.known.insert(name) {
                self.ordered.push(name);
            }
        }
        declared.into_iter().collect()
    }
}

/// The properties that every case requires.
fn common_required(cases: &[SchemaCase<'_>]) -> Vec<String> {
    let mut lists = cases.iter().map(|case| required_properties(&case.maps));
    let Some(mut all) = lists.next() else { return Vec::new() };
    for list in lists {
        all.retain(|name| list.contains(name));
    }
    all
}
