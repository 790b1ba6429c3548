//! Compiles a JSON Schema, within limits and without network or file access.

mod bounds;
mod effort;
mod reason;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use mcparley_model::limits::{EXCERPT_CHARS, MISFITS, PATTERN_BYTES};
use mcparley_model::text::{clean_text, truncate_text};
use serde_json::Value;

use super::{ArgumentMismatch, refs};

/// A schema that arguments are validated against.
#[derive(Debug)]
pub(super) struct CompiledSchema {
    validator: Validator,
    /// The schema, kept only if it has references, through which a small schema can stand for a large one.
    schema: Option<Value>,
}

impl CompiledSchema {
    /// Compiles a schema, or gives the reason why it cannot be used.
    pub(super) fn new(text: &str) -> Result<Self, String> {
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

    /// Whether the arguments fit.
    pub(super) fn is_valid(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments)
    }

    /// Lists the mismatches, up to a limit.
    pub(super) fn collect_mismatches(&self, arguments: &Value) -> Vec<ArgumentMismatch> {
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
            return Err(describe_compile_error(&error));
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

/// Describes a compile error in our words: the library's message may repeat the whole schema.
fn describe_compile_error(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => error.schema_path().as_str(),
        place => place,
    };
    let what = match error.kind() {
        ValidationErrorKind::Referencing(_) => "it refers to something that is not part of it".into(),
        kind => format!("it is not a valid JSON Schema: `{}` does not hold", kind.keyword()),
    };
    truncate_text(&clean_text(&format!("{what} at `{place}`")), EXCERPT_CHARS).into_owned()
}
