//! One field of an elicitation form: flat, of one of the kinds in the protocol.
//!
//! Parsing is lenient where that is harmless, and rejects fields that a user could not fill in.

use mcparley_model::limits::{DESCRIPTION_CHARS, FORM_CHOICES};
use mcparley_model::text::{clean_text, truncate_text};
use serde_json::{Map, Number, Value};

use super::form::FormError;

/// Words that mark a field as asking for a secret, compared without case and punctuation.
const SECRET_WORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "creditcard",
    "cardnumber",
    "socialsecurity",
];

/// Short words that mark a secret only as whole words.
const SECRET_SHORT: [&str; 6] = ["pin", "otp", "ssn", "cvv", "cvc", "pwd"];

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// The name in the content, as the server sent it: for the answer, not for display.
    pub name: String,
    /// The display name.
    pub title: String,
    /// The description.
    pub description: Option<String>,
    /// The kind of value.
    pub kind: FieldKind,
    /// The default value.
    pub default: Option<Value>,
    /// Whether a value is required.
    pub required: bool,
    /// Warnings to show to the user.
    pub warnings: Vec<FieldWarning>,
}

/// The kind of value that a field takes.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// Text.
    Text {
        /// `email`, `uri`, `date` or `date-time`.
        format: Option<String>,
        /// The minimum number of characters.
        shortest: Option<u64>,
        /// The maximum number of characters.
        longest: Option<u64>,
    },
    /// A number.
    Number {
        /// Whether it must be an integer.
        whole: bool,
        /// The minimum.
        least: Option<Number>,
        /// The maximum.
        most: Option<Number>,
    },
    /// A boolean.
    Switch,
    /// One of several choices.
    Choice(Vec<FieldChoice>),
    /// Any of several choices.
    Choices {
        /// The choices.
        among: Vec<FieldChoice>,
        /// The minimum number to select.
        least: Option<u64>,
        /// The maximum number to select.
        most: Option<u64>,
    },
}

/// One choice of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChoice {
    /// The value in the content, as the server sent it: for the answer, not for display.
    pub value: String,
    /// The display name.
    pub title: String,
}

/// A warning about a field, to show to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldWarning {
    /// The field asks for a secret, which the protocol forbids in a form.
    Secret,
    /// The default has the wrong type and is ignored.
    WrongDefault,
}

impl FormField {
    /// Parses a property of the form's schema.
    pub(super) fn parse(name: &str, schema: &Value, required: bool) -> Result<Self, FormError> {
        let title = display_text(schema.get("title")).filter(|title| !title.is_empty());
        let schema = schema.as_object().ok_or_else(|| FormError::for_kind(name))?;
        let kind = FieldKind::parse(name, schema)?;
        let given = schema.get("default").filter(|default| !default.is_null());
        let default = given.filter(|default| kind.accepts_type(default)).cloned();
        let title = title.unwrap_or_else(|| clean_and_cut(name));
        let description = display_text(schema.get("description"));
        let mut doubts = Vec::new();
        if [Some(name), Some(&title), description.as_deref()].into_iter().flatten().any(is_secret) {
            doubts.push(FieldWarning::Secret);
        }
        if given.is_some() && default.is_none() {
            doubts.push(FieldWarning::WrongDefault);
        }
        Ok(Self { name: name.to_owned(), title, description, kind, default, required, warnings: doubts })
    }
}

impl FieldKind {
    fn parse(name: &str, schema: &Map<String, Value>) -> Result<Self, FormError> {
        let count = |name: &str| schema.get(name).and_then(Value::as_u64);
        let number = |name: &str| schema.get(name).and_then(Value::as_number).cloned();
        match schema.get("type").and_then(Value::as_str) {
            Some("string") | None if parse_choices(name, schema)?.is_some() => {
                Ok(Self::Choice(parse_choices(name, schema)?.unwrap_or_default()))
            }
            Some("string") => Ok(Self::Text {
                format: display_text(schema.get("format")),
                shortest: count("minLength"),
                longest: count("maxLength"),
            }),
            Some(kind @ ("integer" | "number")) => Ok(Self::Number {
                whole: kind == "integer",
                least: number("minimum"),
                most: number("maximum"),
            }),
            Some("boolean") => Ok(Self::Switch),
            Some("array") => {
                let items = schema.get("items").and_then(Value::as_object);
                let among = items.map(|items| parse_choices(name, items)).transpose()?.flatten();
                let among = among.ok_or_else(|| FormError::for_nested(name))?;
                Ok(Self::Choices { among, least: count("minItems"), most: count("maxItems") })
            }
            Some("object") => Err(FormError::for_nested(name)),
            Some(_) | None => Err(FormError::for_kind(name)),
        }
    }

    /// Whether a value has the type of this kind. Bounds are checked by the schema validator.
    fn accepts_type(&self, value: &Value) -> bool {
        let is_among = |among: &[FieldChoice], value: &Value| {
            value.as_str().is_some_and(|value| among.iter().any(|choice| choice.value == value))
        };
        match self {
            Self::Text { .. } => value.is_string(),
            Self::Number { whole: false, .. } => value.is_number(),
            Self::Number { whole: true, .. } => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Switch => value.is_boolean(),
            Self::Choice(among) => is_among(among, value),
            Self::Choices { among, .. } => {
                value.as_array().is_some_and(|values| values.iter().all(|value| is_among(among, value)))
            }
        }
    }
}

/// The choices in a schema: `enum`, in the older form with `enumNames`, or a list of `const` and `title`.
fn parse_choices(name: &str, schema: &Map<String, Value>) -> Result<Option<Vec<FieldChoice>>, FormError> {
    let listed = |name: &str| schema.get(name).and_then(Value::as_array);
    let found: Option<Vec<FieldChoice>> = if let Some(values) = listed("enum") {
        let names = listed("enumNames");
        let title = |at: usize| display_text(names.and_then(|names| names.get(at)));
        let texts = values.iter().enumerate();
        texts.map(|(at, value)| Some(FieldChoice::new(value.as_str()?, title(at)))).collect()
    } else if let Some(options) = listed("oneOf").or_else(|| listed("anyOf")) {
        let choice = |option: &Value| {
            Some(FieldChoice::new(option.get("const")?.as_str()?, display_text(option.get("title"))))
        };
        options.iter().map(choice).collect()
    } else {
        return Ok(None);
    };
    match found {
        Some(found) if found.len() > FORM_CHOICES => Err(FormError::Choices { field: clean_and_cut(name) }),
        Some(found) => Ok(Some(found)),
        // A form cannot show alternatives that are not plain strings.
        None => Err(FormError::for_nested(name)),
    }
}

impl FieldChoice {
    fn new(value: &str, title: Option<String>) -> Self {
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| clean_and_cut(value));
        Self { value: value.to_owned(), title }
    }
}

/// A text of the server for display: cleaned and shortened.
fn display_text(text: Option<&Value>) -> Option<String> {
    text.and_then(Value::as_str).map(clean_and_cut)
}

pub(super) fn clean_and_cut(text: &str) -> String {
    truncate_text(&clean_text(text), DESCRIPTION_CHARS).into_owned()
}

fn is_secret(text: &str) -> bool {
    let folded: String =
        text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let mut words = text.split(|character: char| !character.is_alphanumeric());
    SECRET_WORDS.iter().any(|word| folded.contains(word))
        || words.any(|word| SECRET_SHORT.iter().any(|short| word.eq_ignore_ascii_case(short)))
}
