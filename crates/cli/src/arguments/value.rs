//! Understands a text as the kind of value the schema wants.

use serde_json::Value;

use super::kinds::Kinds;
use super::schema::Schema;
use crate::error::CommandError;

/// Why an integer is refused: sent all the same, it would be another one.
pub(super) const TOO_LONG: &str = "an integer beyond 64 bits would lose digits";

/// What was given for one argument.
#[derive(Debug, PartialEq)]
pub(super) enum Given {
    /// The whole value.
    One(Value),
    /// Elements of an array; more may come.
    Elements(Vec<Value>),
}

/// A text that is not what the schema wants.
#[derive(Debug)]
pub(super) struct Mismatch {
    wanted: Kinds,
    /// What the parser says, where a person wrote JSON on purpose.
    reason: Option<String>,
}

/// The text as it was typed.
///
/// A string is taken as it is. Where the schema leaves a choice, or says nothing, JSON that is no string is taken
/// as JSON; but only a number that would be written the same way: `1.10` and a very long number stay text.
pub(super) fn from_text(text: &str, schema: Schema<'_>) -> Result<Given, Mismatch> {
    let kinds = schema.kinds();
    if kinds.has(Kinds::ARRAY) && !kinds.has(Kinds::STRING) {
        return from_list_text(text, schema);
    }
    let parsed = exact(text);
    if !kinds.is_unknown() && !kinds.has(Kinds::STRING) {
        return match parsed.filter(|value| kinds.admit(value)) {
            Some(value) => Ok(Given::One(value)),
            None => Err(Mismatch::between(kinds, text)),
        };
    }
    let is_choice = schema.choices().iter().any(|choice| *choice == text);
    let fits = |value: &Value| {
        !value.is_string() && (kinds.is_unknown() || kinds.admit(value)) && is_plain(text, value)
    };
    match parsed.filter(|value| !is_choice && fits(value)) {
        Some(value) => Ok(Given::One(value)),
        None => Ok(Given::One(Value::String(text.to_owned()))),
    }
}

/// A whole array, or one more element.
fn from_list_text(text: &str, schema: Schema<'_>) -> Result<Given, Mismatch> {
    let items = schema.items();
    match exact(text) {
        // In an array of arrays `[1]` is an element, `[[1]]` the whole.
        Some(Value::Array(elements))
            if !items.kinds().has(Kinds::ARRAY) || elements.iter().all(Value::is_array) =>
        {
            Ok(Given::Elements(elements))
        }
        Some(value) if schema.kinds().without(Kinds::ARRAY).admit(&value) => Ok(Given::One(value)),
        Some(_) | None => from_text(text, items).map(|given| match given {
            Given::One(element) => Given::Elements(vec![element]),
            Given::Elements(elements) => Given::Elements(vec![Value::Array(elements)]),
        }),
    }
}

/// The content of a file: a string where one may stand, else JSON.
pub(super) fn from_file(text: &str, schema: Schema<'_>) -> Result<Given, Mismatch> {
    let kinds = schema.kinds();
    if kinds.is_unknown() || kinds.has(Kinds::STRING) {
        return Ok(Given::One(Value::String(text.to_owned())));
    }
    match exact(text).filter(|value| kinds.admit(value)) {
        Some(Value::Array(elements)) => Ok(Given::Elements(elements)),
        Some(value) => Ok(Given::One(value)),
        None => Err(Mismatch::between(kinds, text)),
    }
}

/// JSON, whatever the schema says; only that an array may be given in parts.
pub(super) fn from_json(text: &str, schema: Schema<'_>) -> Result<Given, Mismatch> {
    let parsed = exact(text).ok_or_else(|| Mismatch::between(Kinds::default(), text))?;
    Ok(match parsed {
        Value::Array(elements) if schema.is_list() => Given::Elements(elements),
        value if schema.is_list() && !schema.kinds().admit(&value) => Given::Elements(vec![value]),
        value => Given::One(value),
    })
}

/// The JSON value, unless it would not be carried as it is written.
fn exact(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(|_| too_long(text).is_none())
}

/// The first integer in the JSON that would lose digits: one beyond 64 bits.
pub(super) fn too_long(json: &str) -> Option<&str> {
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

/// Whether a number is written as we would write it.
fn is_plain(text: &str, value: &Value) -> bool {
    value.as_number().is_none_or(|number| number.to_string() == text)
}

impl Mismatch {
    fn between(wanted: Kinds, text: &str) -> Self {
        let is_json = wanted.is_unknown() || wanted.has(Kinds::ARRAY) || wanted.has(Kinds::OBJECT);
        // The parser's message names the place and never quotes the text, which may hold a secret.
        let reason = match serde_json::from_str::<Value>(text) {
            Ok(_) => too_long(text).map(|_| TOO_LONG.to_owned()),
            Err(error) => is_json.then(|| error.to_string()),
        };
        Self { wanted, reason }
    }

    /// As an error about this word.
    pub(super) fn of(self, word: &str) -> CommandError {
        let reason = self.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        CommandError::usage(
            format!("`{word}` wants {}{reason}", self.wanted.in_words()),
            "`--help` behind the tool shows what it takes",
        )
    }
}
