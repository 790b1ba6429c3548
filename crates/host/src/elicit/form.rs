//! A form that a server wants to be filled in: flat, bounded, and checked before anything is sent (B111).

use mcparley_model::limits::{FORM_FIELDS, SCHEMA_BYTES};
use mcparley_wire::RawJson;
use serde_json::{Map, Value};

use super::field::{Field, short};
use crate::call::{Checker, Misfit};

/// A form that a server wants to be filled in.
#[derive(Debug)]
#[non_exhaustive]
pub struct Form {
    /// Its fields, in the server's order.
    pub fields: Vec<Field>,
    schema: RawJson,
    checker: Checker,
}

/// Why a form cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FormFault {
    #[error("the form has no `requestedSchema` with properties")]
    NoSchema,
    #[error("the form is larger than {SCHEMA_BYTES} bytes")]
    TooLarge,
    #[error("the form has more than {FORM_FIELDS} fields")]
    Fields,
    #[error("field `{field}` of the form has too many choices")]
    Choices { field: String },
    #[error("field `{field}` of the form has parts of its own")]
    Nested { field: String },
    #[error("field `{field}` of the form is of no kind that a form has")]
    Kind { field: String },
}

impl FormFault {
    pub(super) fn nested(field: &str) -> Self {
        Self::Nested { field: short(field) }
    }

    pub(super) fn kind(field: &str) -> Self {
        Self::Kind { field: short(field) }
    }
}

impl Form {
    /// Reads the schema of a form.
    pub(super) fn read(schema: Option<RawJson>) -> Result<Self, FormFault> {
        let schema = schema.ok_or(FormFault::NoSchema)?;
        if schema.as_bytes().len() > SCHEMA_BYTES {
            return Err(FormFault::TooLarge);
        }
        let read: Value = schema.decode().map_err(|_| FormFault::NoSchema)?;
        let checker = schema.as_raw_value().map(Checker::new).ok_or(FormFault::NoSchema)?;
        Ok(Self { fields: fields(&read)?, checker, schema })
    }

    /// The schema as the server wrote it: for passing on, never for showing.
    #[must_use]
    pub fn schema(&self) -> &RawJson {
        &self.schema
    }

    /// The content with every default in its place (SEP-1034). Fields without one are not in it.
    #[must_use]
    pub fn defaults(&self) -> Value {
        let filled =
            self.fields.iter().filter_map(|field| Some((field.name.clone(), field.default.clone()?)));
        Value::Object(filled.collect())
    }

    /// Looks whether `content` may be sent. What does not fit is never sent.
    ///
    /// # Errors
    /// What does not fit, and where.
    pub fn check(&self, content: &Value) -> Result<(), Vec<Misfit>> {
        let Some(members) = content.as_object() else {
            return Err(vec![Misfit { path: String::new(), reason: "it is no object".into() }]);
        };
        let unknown: Vec<Misfit> = members.keys().filter_map(|name| self.unknown(name)).collect();
        if unknown.is_empty() { self.checker.check(content) } else { Err(unknown) }
    }

    /// A field that nobody asked for would tell more than was asked.
    fn unknown(&self, name: &str) -> Option<Misfit> {
        let is_known = self.fields.iter().any(|field| field.name == name);
        let misfit =
            || Misfit { path: format!("/{}", short(name)), reason: "the form has no such field".into() };
        (!is_known).then(misfit)
    }
}

fn fields(schema: &Value) -> Result<Vec<Field>, FormFault> {
    let properties: &Map<String, Value> =
        schema.get("properties").and_then(Value::as_object).ok_or(FormFault::NoSchema)?;
    if properties.len() > FORM_FIELDS {
        return Err(FormFault::Fields);
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
    properties.iter().map(|(name, schema)| Field::read(name, schema, is_required(name))).collect()
}

#[cfg(test)]
mod tests;
