//! Reads a schema into plain parts, whatever it is, within bounds (B103).
//!
//! Conditions that hold for one value at once (its own keywords, what it refers to, `allOf`) are gathered first, then
//! split into the cases of `anyOf` and `oneOf`, and then said as one form. Every step gives up rather than run on: what
//! is too deep, too much, or refers to itself is taken in any form, and checked before a call as everything is.

mod case;
mod form;
mod merge;
mod remark;

use mcparley_model::limits::{MODEL_SCHEMA_DEPTH, MODEL_SCHEMA_PARTS};
use serde_json::Value;

use super::kinds::Kinds;
use super::part::{Form, Object, Part};
use crate::call::Refs;
use case::Case;

/// Reads one schema.
pub(super) struct Reader<'s> {
    refs: Refs<'s>,
    /// How many parts may still be read.
    left: usize,
}

/// Why there is nothing to say about a tool's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// No object fits.
    NotAnObject,
}

impl<'s> Reader<'s> {
    pub(super) fn new(schema: &'s Value) -> Self {
        Self { refs: Refs::new(schema), left: MODEL_SCHEMA_PARTS }
    }

    /// The arguments of a tool: always an object, with all alternatives in one.
    pub(super) fn arguments(&mut self, schema: &'s Value) -> Result<(Part, Object), Unusable> {
        let mut case = Case::default();
        case.trail.push(std::ptr::from_ref(schema));
        self.gather(schema, &mut case);
        let kinds = form::kinds(&case.maps).unwrap_or(Kinds::OBJECT);
        if case.is_never || !kinds.has(Kinds::OBJECT) {
            return Err(Unusable::NotAnObject);
        }
        let (cases, all) = self.cases(&case);
        let object =
            if cases.is_empty() { self.object(&case, 0) } else { self.merged(&case, &cases, all, 0) };
        let part = Part { about: remark::about(&case, &cases), ..Part::of(Form::Any) };
        Ok((part, object))
    }

    /// One value that all of these apply to.
    fn read(&mut self, schemas: &[&'s Value], above: &Case<'s>, depth: usize) -> Part {
        let mut case = Case { trail: above.trail.clone(), ..Case::default() };
        for schema in schemas {
            self.gather(schema, &mut case);
        }
        let about = |cases: &[Case<'s>]| remark::about(&case, cases);
        if depth >= MODEL_SCHEMA_DEPTH || case.is_cut || !self.spend() {
            return Part::free(case.cut_kinds()).told(about(&[]));
        }
        let (cases, all) = self.cases(&case);
        if cases.is_empty() {
            return self.form(&case, depth).told(about(&[]));
        }
        let has_properties = case.maps.iter().any(|map| map.get("properties").is_some_and(is_filled));
        let says_little = has_properties || cases.iter().all(Case::only_requires);
        if says_little && cases.iter().all(Case::is_object) {
            let object = self.merged(&case, &cases, all, depth);
            let nullable = form::kinds(&case.maps).is_some_and(|kinds| kinds.has(Kinds::NULL));
            return Part { nullable, ..Part::of(Form::Object(object)) }.told(about(&cases));
        }
        let mut parts: Vec<Part> = cases.iter().map(|one| self.alternative(&case, one, depth)).collect();
        if !all {
            parts.push(Part::of(Form::Any));
        }
        Part::one_of(parts).told(about(&[]))
    }

    fn alternative(&mut self, common: &Case<'s>, case: &Case<'s>, depth: usize) -> Part {
        let own = remark::about(&case.own(common), &[]);
        if case.is_cut || !self.spend() {
            return Part::free(case.cut_kinds()).told(own);
        }
        self.form(case, depth).told(own)
    }

    /// Whether another part may be read.
    fn spend(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

fn is_filled(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}
