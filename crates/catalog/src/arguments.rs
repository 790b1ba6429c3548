//! Validates the arguments of a call against the tool's JSON Schema, before the call is sent.
//!
//! The schema is untrusted: it is compiled without network or file access, with regular expressions that take
//! linear time, and only within the limits of `bounds`. A schema beyond the limits validates nothing; the
//! server then checks the arguments alone.

#[cfg(feature = "schema")]
mod compiled_schema;
#[cfg(not(feature = "schema"))]
#[path = "arguments/without_compiler.rs"]
mod compiled_schema;
mod nulls;
mod refs;
mod simple_schema;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use mcparley_model::limits::SCHEMA_BYTES;
use serde_json::Value;
use serde_json::value::RawValue;

use compiled_schema::CompiledSchema;
pub(crate) use refs::SchemaRefs;
use simple_schema::SimpleSchema;

/// Validator of a tool's arguments. The schema is compiled once, and only if it is needed.
#[derive(Debug)]
pub struct ArgumentChecker {
    schema: Box<RawValue>,
    simple: Option<SimpleSchema>,
    compiled: OnceLock<Result<CompiledSchema, String>>,
}

/// The way in which arguments fit the schema.
#[derive(Debug, PartialEq, Eq)]
pub enum ArgumentFit {
    /// The arguments fit unchanged.
    AsGiven,
    /// The arguments fit without the optional ones that were null.
    WithoutNulls(Value),
}

/// A mismatch between one argument value and the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentMismatch {
    /// The JSON pointer of the value in the arguments; empty for all of them.
    pub path: String,
    /// The expected value; never the actual value, which may be secret or large.
    pub reason: String,
}

impl std::fmt::Display for ArgumentMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl ArgumentChecker {
    /// Prepares a schema. Never fails: one that cannot be used validates nothing and gives the reason.
    #[must_use]
    pub fn new(schema: &RawValue) -> Self {
        let text = Some(schema.get()).filter(|text| text.len() <= SCHEMA_BYTES);
        let read = text.and_then(|text| serde_json::from_str(text).ok());
        let simple = read.and_then(|schema| SimpleSchema::from_schema(&schema));
        Self { schema: schema.to_owned(), simple, compiled: OnceLock::new() }
    }

    /// The reason why arguments are not validated; `None` if they are.
    #[must_use]
    pub fn unchecked_reason(&self) -> Option<&str> {
        if self.simple.is_some() { None } else { self.compiled_schema().as_ref().err().map(String::as_str) }
    }

    /// Validates `arguments` as they are.
    ///
    /// # Errors
    /// Every mismatch, up to a limit.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), Vec<ArgumentMismatch>> {
        if self.simple.as_ref().is_some_and(|simple| simple.accepts_arguments(arguments)) {
            return Ok(());
        }
        match self.compiled_schema() {
            Ok(compiled) if !compiled.is_valid(arguments) => Err(compiled.collect_mismatches(arguments)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Validates `arguments`, and if that fails, again without the optional ones that are null.
    ///
    /// # Errors
    /// Every mismatch, up to a limit.
    pub fn fit_arguments(&self, arguments: &Value) -> Result<ArgumentFit, Vec<ArgumentMismatch>> {
        let Err(misfits) = self.check_arguments(arguments) else { return Ok(ArgumentFit::AsGiven) };
        let schema: Value = serde_json::from_str(self.schema.get()).unwrap_or_default();
        match nulls::without_optional_nulls(&schema, arguments) {
            Some(fewer) => self.check_arguments(&fewer).map(|()| ArgumentFit::WithoutNulls(fewer)),
            None => Err(misfits),
        }
    }

    fn compiled_schema(&self) -> &Result<CompiledSchema, String> {
        self.compiled.get_or_init(|| CompiledSchema::new(self.schema.get()))
    }
}
