//! Words the mismatches: the expected value, and of the actual value only its type.
//!
//! Arguments may contain secrets and messages end up in logs and in a model's context, so the actual value is
//! not repeated. Parts of the schema may be.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use mcparley_model::text::truncate_text;
use serde_json::Value;

/// The maximum number of names or allowed values in a list.
const LISTED: usize = 10;
/// The maximum number of characters of each.
const LISTED_CHARS: usize = 40;

/// Describes a validation error.
pub(super) fn describe_error(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind } => {
            format!("expected {}, found {}", type_names(kind).join(" or "), found_type(error))
        }
        Kind::Required { property } => format!("{} is missing", quote_name(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("unknown property {}", join_list(unexpected.iter().map(|name| format!("`{name}`")), "or"))
        }
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("expected one of {}", join_list(options.iter().map(Value::to_string), "or"))
        }
        Kind::Constant { expected_value } => format!("expected {}", cut_text(&expected_value.to_string())),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => describe_alternatives(error, context),
        Kind::OneOfMultipleValid { .. } => "fits more than one alternative, and only one may fit".into(),
        Kind::Minimum { limit } => format!("expected at least {limit}"),
        Kind::Maximum { limit } => format!("expected at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("expected a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("expected at least {limit} characters"),
        Kind::MaxLength { limit } => format!("expected at most {limit} characters"),
        Kind::MinItems { limit } => format!("expected at least {limit} elements"),
        Kind::MaxItems { limit } => format!("expected at most {limit} elements"),
        Kind::AdditionalItems { limit } => format!("expected at most {limit} elements"),
        Kind::MinProperties { limit } => format!("expected at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("expected at most {limit} properties"),
        Kind::Pattern { pattern } => {
            format!("expected a text that matches `{}`", truncate_text(pattern, 100))
        }
        Kind::PropertyNames { error } => format!("one of its names: {}", describe_error(error)),
        Kind::FalseSchema => "nothing is allowed here".into(),
        Kind::UniqueItems => "two of its elements are the same".into(),
        Kind::Contains => "an element it must have is missing".into(),
        Kind::Not { .. } => "it has a form that is excluded".into(),
        kind => format!("it does not fit `{}`", kind.keyword()),
    }
}

/// Lists the types if all alternatives differ by type, otherwise describes the nearest alternative's error.
fn describe_alternatives(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let here = error.instance_path();
    let expected: Option<Vec<_>> = context
        .iter()
        .map(|errors| match errors.as_slice() {
            [only] if only.instance_path() == here => match only.kind() {
                ValidationErrorKind::Type { kind } => Some(type_names(kind)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    if let Some(expected) = expected.filter(|expected| !expected.is_empty()) {
        let mut types = expected.concat();
        let mut seen = std::collections::HashSet::new();
        types.retain(|name| seen.insert(*name));
        return format!("expected {}, found {}", types.join(" or "), found_type(error));
    }
    // An alternative of another type than the value is farther away than any other.
    let distance = |errors: &&Vec<ValidationError<'static>>| {
        let is_other_type = |error: &ValidationError<'_>| {
            matches!(error.kind(), ValidationErrorKind::Type { .. }) && error.instance_path() == here
        };
        (errors.iter().any(is_other_type), errors.len())
    };
    let nearest = context.iter().filter(|errors| !errors.is_empty()).min_by_key(distance);
    let Some(first) = nearest.and_then(|errors| errors.first()) else {
        return "fits no alternative".into();
    };
    match first.instance_path().as_str().strip_prefix(here.as_str()) {
        None | Some("") => format!("fits no alternative; for the nearest {}", describe_error(first)),
        Some(path) => format!("fits no alternative; for the nearest `{path}`: {}", describe_error(first)),
    }
}

fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(kind) => vec![kind.as_str()],
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.as_str()).collect(),
    }
}

fn found_type(error: &ValidationError<'_>) -> &'static str {
    match error.instance().as_ref() {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn quote_name(property: &Value) -> String {
    match property {
        Value::String(name) => format!("`{}`", cut_text(name)),
        other => cut_text(&other.to_string()),
    }
}

/// Joins the first few items, and the number of the others.
fn join_list(all: impl ExactSizeIterator<Item = String>, last: &str) -> String {
    let left = all.len().saturating_sub(LISTED);
    let mut shown: Vec<String> = all.take(LISTED).map(|one| cut_text(&one)).collect();
    if left > 0 {
        return format!("{} {last} {left} more", shown.join(", "));
    }
    match (shown.pop(), shown.is_empty()) {
        (None, _) => "nothing".into(),
        (Some(only), true) => only,
        (Some(end), false) => format!("{} {last} {end}", shown.join(", ")),
    }
}

fn cut_text(text: &str) -> String {
    truncate_text(text, LISTED_CHARS).into_owned()
}
