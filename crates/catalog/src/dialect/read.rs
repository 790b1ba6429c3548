//! Reads any schema into a simplified schema, within limits.
//!
//! Conditions that apply to one value at once (its own keywords, its references, `allOf`) are gathered first,
//! then split into the cases of `anyOf` and `oneOf`, and then turned into one form. Every step gives up
//! instead of running on: a value whose schema is too deep, too large or recursive may have any form. Its
//! validation before a call is not affected.

mod case;
mod form;
mod merge;
mod remark;

use mcparley_model::limits::{MODEL_SCHEMA_DEPTH, MODEL_SCHEMA_PARTS};
use serde_json::Value;

use super::json_types::JsonTypes;
use super::plain_schema::{ObjectForm, PlainSchema, ValueForm};
use crate::arguments::SchemaRefs;
use case::SchemaCase;

/// Reader of one schema.
pub(super) struct SchemaReader<'s> {
    refs: SchemaRefs<'s>,
    /// The number of schema parts that may still be read.
    left: usize,
}

/// The error of an argument schema that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnusableSchema {
    /// No object fits the schema.
    NotAnObject,
}

impl<'s> SchemaReader<'s> {
    pub(super) fn new(schema: &'s Value) -> Self {
        Self { refs: SchemaRefs::new(schema), left: MODEL_SCHEMA_PARTS }
    }

    /// Reads the arguments of a tool: always one object, with all alternatives merged.
    pub(super) fn read_arguments(
        &mut self,
        schema: &'s Value,
    ) -> Result<(PlainSchema, ObjectForm), UnusableSchema> {
        let mut case = SchemaCase::default();
        case.trail.push(std::ptr::from_ref(schema));
        self.gather_schema(schema, &mut case);
        let kinds = form::allowed_types(&case.maps).unwrap_or(JsonTypes::OBJECT);
        if case.is_never || !kinds.contains(JsonTypes::OBJECT) {
            return Err(UnusableSchema::NotAnObject);
        }
        let (cases, all) = self.split_cases(&case);
        let object = if cases.is_empty() {
            self.read_object(&case, 0)
        } else {
            self.merge_objects(&case, &cases, all, 0)
        };
        let part = PlainSchema {
            annotations: remark::read_annotations(&case, &cases),
            ..PlainSchema::from_form(ValueForm::Any)
        };
        Ok((part, object))
    }

    /// Reads one value that all of these schemas apply to.
    fn read_value(&mut self, schemas: &[&'s Value], above: &SchemaCase<'s>, depth: usize) -> PlainSchema {
        let mut case = SchemaCase { trail: above.trail.clone(), ..SchemaCase::default() };
        for schema in schemas {
            self.gather_schema(schema, &mut case);
        }
        let about = |cases: &[SchemaCase<'s>]| remark::read_annotations(&case, cases);
        if depth >= MODEL_SCHEMA_DEPTH || case.is_cut || !self.spend_part() {
            return PlainSchema::any_of_types(case.cut_kinds()).with_annotations(about(&[]));
        }
        let (cases, all) = self.split_cases(&case);
        if cases.is_empty() {
            return self.read_form(&case, depth).with_annotations(about(&[]));
        }
        let has_properties = case.maps.iter().any(|map| map.get("properties").is_some_and(is_filled));
        let says_little = has_properties || cases.iter().all(SchemaCase::only_requires);
        if says_little && cases.iter().all(SchemaCase::is_object) {
            let object = self.merge_objects(&case, &cases, all, depth);
            let nullable =
                form::allowed_types(&case.maps).is_some_and(|kinds| kinds.contains(JsonTypes::NULL));
            return PlainSchema { nullable, ..PlainSchema::from_form(ValueForm::Object(object)) }
                .with_annotations(about(&cases));
        }
        let mut parts: Vec<PlainSchema> =
            cases.iter().map(|one| self.read_alternative(&case, one, depth)).collect();
        if !all {
            parts.push(PlainSchema::from_form(ValueForm::Any));
        }
        PlainSchema::one_of(parts).with_annotations(about(&[]))
    }

    fn read_alternative(
        &mut self,
        common: &SchemaCase<'s>,
        case: &SchemaCase<'s>,
        depth: usize,
    ) -> PlainSchema {
        let own = remark::read_annotations(&case.without_common(common), &[]);
        if case.is_cut || !self.spend_part() {
            return PlainSchema::any_of_types(case.cut_kinds()).with_annotations(own);
        }
        self.read_form(case, depth).with_annotations(own)
    }

    /// Counts a schema part; returns whether any are left.
    fn spend_part(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}

fn is_filled(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}
