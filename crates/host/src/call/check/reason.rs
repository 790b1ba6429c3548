//! Says what was expected where a value does not fit, never what was found there beyond its type.
//!
//! Arguments may hold secrets and end in a log or a model's window, so the value itself is not repeated; what
//! the schema says may be.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use mcparley_model::text::cut;
use serde_json::Value;

/// How many names or allowed values are listed.
const LISTED: usize = 10;
/// How many characters of each are shown.
const LISTED_CHARS: usize = 40;

/// Why the value does not fit.
pub(super) fn of(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind } => format!("expected {}, found {}", types(kind).join(" or "), found(error)),
        Kind::Required { property } => format!("{} is missing", name(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("there is no {}", list(unexpected.iter().map(|name| format!("`{name}`")), "or"))
        }
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("expected one of {}", list(options.iter().map(Value::to_string), "or"))
        }
        Kind::Constant { expected_value } => format!("expected {}", short(&expected_value.to_string())),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(error, context),
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
        Kind::Pattern { pattern } => format!("expected a text that matches `{}`", cut(pattern, 100)),
        Kind::PropertyNames { error } => format!("one of its names: {}", of(error)),
        Kind::FalseSchema => "nothing is allowed here".into(),
        Kind::UniqueItems => "two of its elements are the same".into(),
        Kind::Contains => "an element it must have is missing".into(),
        Kind::Not { .. } => "it has a form that is excluded".into(),
        kind => format!("it does not fit `{}`", kind.keyword()),
    }
}

/// Types where the alternatives are types, else what is wrong with the alternative that is nearest.
fn alternatives(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let here = error.instance_path();
    let expected: Option<Vec<_>> = context
        .iter()
        .map(|errors| match errors.as_slice() {
            [only] if only.instance_path() == here => match only.kind() {
                ValidationErrorKind::Type { kind } => Some(types(kind)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    if let Some(expected) = expected.filter(|expected| !expected.is_empty()) {
        let mut types = expected.concat();
        let mut seen = std::collections::HashSet::new();
        types.retain(|name| seen.insert(*name));
        return format!("expected {}, found {}", types.join(" or "), found(error));
    }
    // An alternative of another type than the value is farther than any other.
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
        None | Some("") => format!("fits no alternative; for the nearest {}", of(first)),
        Some(path) => format!("fits no alternative; for the nearest `{path}`: {}", of(first)),
    }
}

fn types(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(kind) => vec![kind.as_str()],
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.as_str()).collect(),
    }
}

fn found(error: &ValidationError<'_>) -> &'static str {
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

fn name(property: &Value) -> String {
    match property {
        Value::String(name) => format!("`{}`", short(name)),
        other => short(&other.to_string()),
    }
}

/// The first few, and how many are left.
fn list(all: impl ExactSizeIterator<Item = String>, last: &str) -> String {
    let left = all.len().saturating_sub(LISTED);
    let mut shown: Vec<String> = all.take(LISTED).map(|one| short(&one)).collect();
    if left > 0 {
        return format!("{} {last} {left} more", shown.join(", "));
    }
    match (shown.pop(), shown.is_empty()) {
        (None, _) => "nothing".into(),
        (Some(only), true) => only,
        (Some(end), false) => format!("{} {last} {end}", shown.join(", ")),
    }
}

fn short(text: &str) -> String {
    cut(text, LISTED_CHARS).into_owned()
}
