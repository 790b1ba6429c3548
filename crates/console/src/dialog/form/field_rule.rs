//! The rules that the value of a field must follow, and their wording.

use mcparley::elicit::FieldKind;
use serde_json::{Number, Value};

/// The expected value of a field, in words: `a whole number, 0 to 150`.
pub(super) fn describe_kind(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text { format, shortest, longest } => {
            let text = match format.as_deref() {
                Some("email") => "an email address",
                Some("uri") => "a URL",
                Some("date") => "a date such as 2026-01-31",
                Some("date-time") => "a date and time such as 2026-01-31T09:30:00Z",
                Some(_) | None => "text",
            };
            let bounds = describe_bounds(*shortest, *longest);
            format!("{text}{}", bounds.map(|bounds| format!(", {bounds} characters")).unwrap_or_default())
        }
        FieldKind::Number { whole, least, most } => {
            let number = if *whole { "a whole number" } else { "a number" };
            let bounds = describe_bounds(least.as_ref(), most.as_ref());
            format!("{number}{}", bounds.map(|bounds| format!(", {bounds}")).unwrap_or_default())
        }
        FieldKind::Switch => "yes or no: Space switches".to_owned(),
        FieldKind::Choice(among) => format!("one of {}: ← → choose", among.len()),
        FieldKind::Choices { among, least, most } => {
            let bounds =
                describe_bounds(*least, *most).map(|bounds| format!(", {bounds}")).unwrap_or_default();
            format!("any of {}{bounds}: ← → move, Space switches", among.len())
        }
    }
}

fn describe_bounds<T: ToString>(least: Option<T>, most: Option<T>) -> Option<String> {
    match (least.map(|it| it.to_string()), most.map(|it| it.to_string())) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

/// Checks a value that has the type of the field.
///
/// # Errors
/// The broken rule, in words.
pub(super) fn check_value(kind: &FieldKind, value: &Value) -> Result<(), String> {
    match kind {
        FieldKind::Text { format, shortest, longest } => {
            let text = value.as_str().unwrap_or_default();
            let length = text.chars().count() as u64;
            check_bounds(
                shortest.is_some_and(|least| length < least),
                longest.is_some_and(|most| length > most),
                || {
                    let bounds = describe_bounds(*shortest, *longest).unwrap_or_default();
                    format!("must have {bounds} characters")
                },
            )?;
            check_format(format.as_deref(), text)
        }
        FieldKind::Number { least, most, .. } => {
            let number = value.as_f64().unwrap_or_default();
            let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
            check_bounds(
                bound(least).is_some_and(|least| number < least),
                bound(most).is_some_and(|most| number > most),
                || {
                    let bounds = describe_bounds(least.as_ref(), most.as_ref()).unwrap_or_default();
                    format!("must be {bounds}")
                },
            )
        }
        FieldKind::Choices { least, most, .. } => {
            let count = value.as_array().map_or(0, Vec::len) as u64;
            check_bounds(
                least.is_some_and(|least| count < least),
                most.is_some_and(|most| count > most),
                || {
                    let bounds = describe_bounds(*least, *most).unwrap_or_default();
                    format!("choose {bounds}")
                },
            )
        }
        FieldKind::Switch | FieldKind::Choice(_) => Ok(()),
    }
}

fn check_bounds(is_below: bool, is_above: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if is_below || is_above { Err(message()) } else { Ok(()) }
}

/// Checks a text against the formats of the protocol; other formats are the server's business.
fn check_format(format: Option<&str>, text: &str) -> Result<(), String> {
    let (holds, expected) = match format {
        Some("email") => (is_email(text), "an email address"),
        Some("uri") => (url::Url::parse(text).is_ok(), "a URL such as https://example.com"),
        Some("date") => (text.parse::<jiff::civil::Date>().is_ok(), "a date such as 2026-01-31"),
        Some("date-time") => {
            (text.parse::<jiff::Timestamp>().is_ok(), "a date and time such as 2026-01-31T09:30:00Z")
        }
        Some(_) | None => return Ok(()),
    };
    if holds { Ok(()) } else { Err(format!("must be {expected}")) }
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let is_plain =
        |part: &str| !part.is_empty() && !part.contains(|it: char| it.is_whitespace() || it == '@');
    is_plain(name) && is_plain(host) && !host.starts_with('.') && !host.ends_with('.')
}
