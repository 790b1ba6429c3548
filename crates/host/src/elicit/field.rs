//! One field of a form: flat, of one of the kinds the protocol has.
//!
//! Reads leniently what harms nobody, and refuses what a person could not fill in.

use mcparley_model::limits::{DESCRIPTION_CHARS, FORM_CHOICES};
use mcparley_model::text::{clean, cut};
use serde_json::{Map, Number, Value};

use super::form::FormFault;

/// Words that make a field one for secrets, compared without case and without what is no letter.
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

/// The same, where only the whole word means it.
const SECRET_SHORT: [&str; 6] = ["pin", "otp", "ssn", "cvv", "cvc", "pwd"];

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in the content, as the server wrote it: for answering, not for showing.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub kind: FieldKind,
    /// What it holds unless it is changed.
    pub default: Option<Value>,
    /// Whether it must be there.
    pub required: bool,
    /// What a person should be told about it.
    pub doubts: Vec<Doubt>,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    Text {
        /// `email`, `uri`, `date` or `date-time`.
        format: Option<String>,
        /// The fewest characters.
        shortest: Option<u64>,
        /// The most.
        longest: Option<u64>,
    },
    /// A number.
    Number {
        /// Whether it has no fraction.
        whole: bool,
        /// The smallest.
        least: Option<Number>,
        /// The largest.
        most: Option<Number>,
    },
    /// Yes or no.
    Switch,
    /// One of these.
    Choice(Vec<Choice>),
    /// Some of these.
    Choices {
        /// What there is.
        among: Vec<Choice>,
        /// The fewest that must be taken.
        least: Option<u64>,
        /// The most that may be.
        most: Option<u64>,
    },
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What stands in the content, as the server wrote it: for answering, not for showing.
    pub value: String,
    /// Its name for people.
    pub title: String,
}

/// What a person should be told about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// It asks for a secret, which a server must not do in a form (H30).
    Secret,
    /// Its default is not of its kind, so it has none.
    WrongDefault,
}

impl Field {
    pub(super) fn read(name: &str, schema: &Value, required: bool) -> Result<Self, FormFault> {
        let title = shown(schema.get("title")).filter(|title| !title.is_empty());
        let schema = schema.as_object().ok_or_else(|| FormFault::kind(name))?;
        let kind = FieldKind::read(name, schema)?;
        let given = schema.get("default").filter(|default| !default.is_null());
        let default = given.filter(|default| kind.takes(default)).cloned();
        let title = title.unwrap_or_else(|| short(name));
        let description = shown(schema.get("description"));
        let mut doubts = Vec::new();
        if [Some(name), Some(&title), description.as_deref()].into_iter().flatten().any(is_secret) {
            doubts.push(Doubt::Secret);
        }
        if given.is_some() && default.is_none() {
            doubts.push(Doubt::WrongDefault);
        }
        Ok(Self { name: name.to_owned(), title, description, kind, default, required, doubts })
    }
}

impl FieldKind {
    fn read(name: &str, schema: &Map<String, Value>) -> Result<Self, FormFault> {
        let count = |name: &str| schema.get(name).and_then(Value::as_u64);
        let number = |name: &str| schema.get(name).and_then(Value::as_number).cloned();
        match schema.get("type").and_then(Value::as_str) {
            Some("string") | None if choices(name, schema)?.is_some() => {
                Ok(Self::Choice(choices(name, schema)?.unwrap_or_default()))
            }
            Some("string") => Ok(Self::Text {
                format: shown(schema.get("format")),
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
                let among = items.map(|items| choices(name, items)).transpose()?.flatten();
                let among = among.ok_or_else(|| FormFault::nested(name))?;
                Ok(Self::Choices { among, least: count("minItems"), most: count("maxItems") })
            }
            Some("object") => Err(FormFault::nested(name)),
            Some(_) | None => Err(FormFault::kind(name)),
        }
    }

    /// Whether a value is of this kind. What fits beyond that is for the schema to say.
    fn takes(&self, value: &Value) -> bool {
        let is_among = |among: &[Choice], value: &Value| {
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

/// What a schema lets choose from: `enum`, with names beside it in the older form, or `const` and `title` each.
fn choices(name: &str, schema: &Map<String, Value>) -> Result<Option<Vec<Choice>>, FormFault> {
    let listed = |name: &str| schema.get(name).and_then(Value::as_array);
    let found: Option<Vec<Choice>> = if let Some(values) = listed("enum") {
        let names = listed("enumNames");
        let title = |at: usize| shown(names.and_then(|names| names.get(at)));
        let texts = values.iter().enumerate();
        texts.map(|(at, value)| Some(Choice::new(value.as_str()?, title(at)))).collect()
    } else if let Some(options) = listed("oneOf").or_else(|| listed("anyOf")) {
        let choice =
            |option: &Value| Some(Choice::new(option.get("const")?.as_str()?, shown(option.get("title"))));
        options.iter().map(choice).collect()
    } else {
        return Ok(None);
    };
    match found {
        Some(found) if found.len() > FORM_CHOICES => Err(FormFault::Choices { field: short(name) }),
        Some(found) => Ok(Some(found)),
        // Alternatives that are no plain texts are no choice a form can show.
        None => Err(FormFault::nested(name)),
    }
}

impl Choice {
    fn new(value: &str, title: Option<String>) -> Self {
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| short(value));
        Self { value: value.to_owned(), title }
    }
}

/// A text of the server as people may see it.
fn shown(text: Option<&Value>) -> Option<String> {
    text.and_then(Value::as_str).map(short)
}

pub(super) fn short(text: &str) -> String {
    cut(&clean(text), DESCRIPTION_CHARS).into_owned()
}

fn is_secret(text: &str) -> bool {
    let folded: String =
        text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let mut words = text.split(|character: char| !character.is_alphanumeric());
    SECRET_WORDS.iter().any(|word| folded.contains(word))
        || words.any(|word| SECRET_SHORT.iter().any(|short| word.eq_ignore_ascii_case(short)))
}
