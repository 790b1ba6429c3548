//! Converts a text to the type of value that the schema requires.

use serde_json::Value;

use super::error::{TOO_LONG, ToolArgumentError};
use super::kinds::ArgumentTypes;
use super::schema::ToolSchema;

/// The value of one argument.
#[derive(Debug, PartialEq)]
pub(super) enum ArgumentValue {
    /// The whole value.
    One(Value),
    /// Elements of an array; more may follow.
    Elements(Vec<Value>),
}

/// A text that does not convert to the required type.
#[derive(Debug)]
pub(super) struct TypeMismatch {
    wanted: ArgumentTypes,
    /// The error of the JSON parser, if the text was meant as JSON.
    reason: Option<String>,
}

/// Converts a typed text.
///
/// A string is used unchanged. If the schema accepts several types, or has none, JSON other than a string is
/// parsed, but a number only if it is formatted back to the same text: `1.10` and very long numbers stay
/// strings.
pub(super) fn from_text(text: &str, schema: ToolSchema<'_>) -> Result<ArgumentValue, TypeMismatch> {
    let kinds = schema.json_types();
    if kinds.has(ArgumentTypes::ARRAY) && !kinds.has(ArgumentTypes::STRING) {
        return from_list_text(text, schema);
    }
    let parsed = parse_exact(text);
    if !kinds.is_unknown() && !kinds.has(ArgumentTypes::STRING) {
        return match parsed.filter(|value| kinds.accepts_value(value)) {
            Some(value) => Ok(ArgumentValue::One(value)),
            None => Err(TypeMismatch::for_text(kinds, text)),
        };
    }
    let is_choice = schema.choices().iter().any(|choice| *choice == text);
    let fits = |value: &Value| {
        !value.is_string() && (kinds.is_unknown() || kinds.accepts_value(value)) && is_plain(text, value)
    };
    match parsed.filter(|value| !is_choice && fits(value)) {
        Some(value) => Ok(ArgumentValue::One(value)),
        None => Ok(ArgumentValue::One(Value::String(text.to_owned()))),
    }
}

/// Converts a text to a whole array, or to one more element.
fn from_list_text(text: &str, schema: ToolSchema<'_>) -> Result<ArgumentValue, TypeMismatch> {
    let items = schema.items();
    match parse_exact(text) {
        // In an array of arrays `[1]` is one element, `[[1]]` the whole array.
        Some(Value::Array(elements))
            if !items.json_types().has(ArgumentTypes::ARRAY) || elements.iter().all(Value::is_array) =>
        {
            Ok(ArgumentValue::Elements(elements))
        }
        Some(value) if schema.json_types().without(ArgumentTypes::ARRAY).accepts_value(&value) => {
            Ok(ArgumentValue::One(value))
        }
        Some(_) | None => from_text(text, items).map(|given| match given {
            ArgumentValue::One(element) => ArgumentValue::Elements(vec![element]),
            ArgumentValue::Elements(elements) => ArgumentValue::Elements(vec![Value::Array(elements)]),
        }),
    }
}

/// Converts the content of a file: a string if the schema accepts one, otherwise JSON.
pub(super) fn from_file(text: &str, schema: ToolSchema<'_>) -> Result<ArgumentValue, TypeMismatch> {
    let kinds = schema.json_types();
    if kinds.is_unknown() || kinds.has(ArgumentTypes::STRING) {
        return Ok(ArgumentValue::One(Value::String(text.to_owned())));
    }
    match parse_exact(text).filter(|value| kinds.accepts_value(value)) {
        Some(Value::Array(elements)) => Ok(ArgumentValue::Elements(elements)),
        Some(value) => Ok(ArgumentValue::One(value)),
        None => Err(TypeMismatch::for_text(kinds, text)),
    }
}

/// Parses JSON regardless of the schema, except that an array may be given in parts.
pub(super) fn from_json(text: &str, schema: ToolSchema<'_>) -> Result<ArgumentValue, TypeMismatch> {
    let parsed = parse_exact(text).ok_or_else(|| TypeMismatch::for_text(ArgumentTypes::default(), text))?;
    Ok(match parsed {
        Value::Array(elements) if schema.is_list() => ArgumentValue::Elements(elements),
        value if schema.is_list() && !schema.json_types().accepts_value(&value) => {
            ArgumentValue::Elements(vec![value])
        }
        value => ArgumentValue::One(value),
    })
}

/// Parses JSON; `None` if an integer would lose digits.
fn parse_exact(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(|_| find_long_integer(text).is_none())
}

/// The first integer beyond 64 bits in the JSON, which would lose digits.
pub(super) fn find_long_integer(json: &str) -> Option<&str> {
    let (mut in_string, mut escaped, mut start) = (false, false, None);
    for (at, character) in json.char_indices().chain([(json.len(), ' ')]) {
        let is_number = matches!(character, '0'..='9' | '-' | '+' | '.' | 'e' | 'E') && !in_string;
        match start {
            None if is_number => start = Some(at),
            Some(from) if !is_number => {
                start = None;
                let number = json.get(from..at)?;
                let digits = number.strip_prefix('-').unwrap_or(number);
                let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                    return Some(number);
                }
            }
            None | Some(_) => {}
        }
        match character {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ => {}
        }
    }
    None
}

/// Whether a number is formatted back to the same text.
fn is_plain(text: &str, value: &Value) -> bool {
    value.as_number().is_none_or(|number| number.to_string() == text)
}

impl TypeMismatch {
    fn for_text(wanted: ArgumentTypes, text: &str) -> Self {
        let is_json =
            wanted.is_unknown() || wanted.has(ArgumentTypes::ARRAY) || wanted.has(ArgumentTypes::OBJECT);
        // The parser reports the position and never quotes the text, which may hold a secret.
        let reason = match serde_json::from_str::<Value>(text) {
            Ok(_) => find_long_integer(text).map(|_| TOO_LONG.to_owned()),
            Err(error) => is_json.then(|| error.to_string()),
        };
        Self { wanted, reason }
    }

    /// The error about this word.
    pub(super) fn into_error(self, word: &str) -> ToolArgumentError {
        let wanted = self.wanted.to_phrase();
        ToolArgumentError::Mismatch { word: word.to_owned(), wanted, reason: self.reason }
    }
}
