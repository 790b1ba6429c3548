//! An elicitation form: flat, bounded, and validated before the answer is sent.

use mcparley_model::limits::{FORM_FIELDS, SCHEMA_BYTES};
use mcparley_wire::RawJson;
use serde_json::{Map, Value};

use super::field::{FormField, clean_and_cut};
use mcparley_catalog::ArgumentChecker;
use mcparley_catalog::ArgumentMismatch;

/// A form that a server asks the user to fill in.
#[derive(Debug)]
#[non_exhaustive]
pub struct ElicitationForm {
    /// The fields, in the server's order.
    pub fields: Vec<FormField>,
    schema: RawJson,
    checker: ArgumentChecker,
}

/// The reason a form cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormError {
    #[error("the form has no `requestedSchema` with properties")]
    NoSchema,
    #[error("the form is larger than {SCHEMA_BYTES} bytes")]
    TooLarge,
    #[error("the form has more than {FORM_FIELDS} fields")]
    Fields,
    #[error("field `{field}` of the form has too many choices")]
    Choices { field: String },
    #[error("field `{field}` of the form is nested")]
    Nested { field: String },
    #[error("field `{field}` of the form has an unsupported type")]
    Kind { field: String },
}

impl FormError {
    pub(super) fn for_nested(field: &str) -> Self {
        Self::Nested { field: clean_and_cut(field) }
    }

    pub(super) fn for_kind(field: &str) -> Self {
        Self::Kind { field: clean_and_cut(field) }
    }
}

impl ElicitationForm {
    /// Parses the schema of a form.
    pub(crate) fn parse(schema: Option<RawJson>) -> Result<Self, FormError> {
        let schema = schema.ok_or(FormError::NoSchema)?;
        if schema.as_bytes().len() > SCHEMA_BYTES {
            return Err(FormError::TooLarge);
        }
        let read: Value = schema.decode().map_err(|_| FormError::NoSchema)?;
        let checker = schema.as_raw_value().map(ArgumentChecker::new).ok_or(FormError::NoSchema)?;
        Ok(Self { fields: parse_fields(&read)?, checker, schema })
    }

    /// The schema as the server sent it: for forwarding, never for display.
    #[must_use]
    pub fn schema(&self) -> &RawJson {
        &self.schema
    }

    /// The content with all default values (SEP-1034). Fields without a default are missing.
    #[must_use]
    pub fn defaults(&self) -> Value {
        let filled =
            self.fields.iter().filter_map(|field| Some((field.name.clone(), field.default.clone()?)));
        Value::Object(filled.collect())
    }

    /// Validates `content` against the form. Invalid content must not be sent.
    ///
    /// # Errors
    /// The mismatches with their paths.
    pub fn check_content(&self, content: &Value) -> Result<(), Vec<ArgumentMismatch>> {
        let Some(members) = content.as_object() else {
            return Err(vec![ArgumentMismatch { path: String::new(), reason: "it is no object".into() }]);
        };
        let unknown: Vec<ArgumentMismatch> =
            members.keys().filter_map(|name| self.unknown_field(name)).collect();
        if unknown.is_empty() { self.checker.check_arguments(content) } else { Err(unknown) }
    }

    /// The mismatch for a field that is not in the form: sending it would disclose more than was asked.
    fn unknown_field(&self, name: &str) -> Option<ArgumentMismatch> {
        let is_known = self.fields.iter().any(|field| field.name == name);
        let misfit = || ArgumentMismatch {
            path: format!("/{}", clean_and_cut(name)),
            reason: "the form has no such field".into(),
        };
        (!is_known).then(misfit)
    }
}

fn parse_fields(schema: &Value) -> Result<Vec<FormField>, FormError> {
    let properties: &Map<String, Value> =
        schema.get("properties").and_then(Value::as_object).ok_or(FormError::NoSchema)?;
    if properties.len() > FORM_FIELDS {
        return Err(FormError::Fields);
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
    properties.iter().map(|(name, schema)| FormField::parse(name, schema, is_required(name))).collect()
}

#[cfg(test)]
mod tests;
