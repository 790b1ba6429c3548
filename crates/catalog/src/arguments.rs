//! Validates the arguments of a call against the tool's JSON Schema, before the call is sent.
//!
//! The schema is untrusted: it is compiled without network or file access, with regular expressions that take
//! linear time, and only within the limits of [`bounds`]. A schema beyond the limits validates nothing; the
//! server then checks the arguments alone.

mod bounds;
mod effort;
mod nulls;
mod reason;
mod refs;
mod simple_schema;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Validator};
use mcparley_model::limits::{EXCERPT_CHARS, MISFITS, PATTERN_BYTES};
use mcparley_model::text::{clean_text, truncate_text};
use serde_json::Value;
use serde_json::value::RawValue;

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

#[derive(Debug)]
struct CompiledSchema {
    validator: Validator,
    /// The schema, kept only if it has references, through which a small schema can stand for a large one.
    schema: Option<Value>,
}

impl ArgumentChecker {
    /// Prepares a schema. Never fails: one that cannot be used validates nothing and gives the reason.
    #[must_use]
    pub fn new(schema: &RawValue) -> Self {
        let read =
            bounds::check_length(schema.get()).ok().and_then(|()| serde_json::from_str(schema.get()).ok());
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
            Ok(compiled) if !compiled.validator.is_valid(arguments) => {
                Err(compiled.collect_mismatches(arguments))
            }
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

impl CompiledSchema {
    fn new(text: &str) -> Result<Self, String> {
        bounds::check_length(text)?;
        let mut schema: Value = serde_json::from_str(text).map_err(|_| "it is nested too deep to be read")?;
        bounds::check_parts(&schema)?;
        bounds::check_layers(&schema)?;
        let draft = schema_draft(&schema);
        // An unknown JSON Schema draft is treated as the newest; rejecting it would validate nothing.
        schema.as_object_mut().and_then(|members| members.shift_remove("$schema"));
        let validator = compile_schema(&mut schema, draft)?;
        let has_references = refs::has_references(&schema);
        Ok(Self { validator, schema: has_references.then_some(schema) })
    }

    fn collect_mismatches(&self, arguments: &Value) -> Vec<ArgumentMismatch> {
        let is_bearable = self.schema.as_ref().is_none_or(|schema| effort::is_affordable(schema, arguments));
        if !is_bearable {
            // Listing the failed alternatives of a recursive schema could take exponentially many steps.
            return vec![ArgumentMismatch {
                path: String::new(),
                reason: "they do not fit the tool's schema".into(),
            }];
        }
        let errors = self.validator.iter_errors(arguments).take(MISFITS);
        let short = |text: &str| truncate_text(&clean_text(text), EXCERPT_CHARS).into_owned();
        errors
            .map(|error| ArgumentMismatch {
                path: short(error.instance_path().as_str()),
                reason: short(&reason::describe_error(&error)),
            })
            .collect()
    }
}

/// The JSON Schema draft that `$schema` names; 2020-12, the protocol's default, if it names none.
fn schema_draft(schema: &Value) -> Draft {
    let name = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let known = [
        ("draft-04", Draft::Draft4),
        ("draft-06", Draft::Draft6),
        ("draft-07", Draft::Draft7),
        ("2019-09", Draft::Draft201909),
    ];
    known.into_iter().find(|(part, _)| name.contains(part)).map_or(Draft::Draft202012, |(_, draft)| draft)
}

/// Compiles `schema`, without the patterns that cannot run in linear time: the rest is still worth checking.
fn compile_schema(schema: &mut Value, draft: Draft) -> Result<Validator, String> {
    const UNUSABLE_PATTERNS: usize = 8;
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES))
        // Formats are annotations in the newest draft, and often misused: `uint32`, `path`, `duration` in
        // seconds.
        .should_validate_formats(false)
        .offline();
    for _ in 0..UNUSABLE_PATTERNS {
        let error = match options.build(schema) {
            Ok(validator) => return Ok(validator),
            Err(error) => error,
        };
        let is_pattern =
            matches!(error.kind(), ValidationErrorKind::Format { format } if format.as_str() == "regex");
        let place = match error.instance_path().as_str() {
            "" => error.schema_path().as_str(),
            place => place,
        };
        if !is_pattern || !remove_pattern(schema, place) {
            return Err(bounds::describe_compile_error(&error));
        }
    }
    Err("too many of its patterns cannot be used".into())
}

/// Removes the pattern at `place`; returns whether there was one.
fn remove_pattern(schema: &mut Value, place: &str) -> bool {
    let Some(parent) = place.strip_suffix("/pattern") else { return false };
    let parent = schema.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.and_then(|members| members.shift_remove("pattern")).is_some()
}
