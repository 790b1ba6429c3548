//! Makes of one tool what an API takes, and keeps the way back.

use std::fmt;

use mcparley_model::limits::{OPENAI_DESCRIPTION_CHARS, SCHEMA_BYTES, TOOLS_PER_REQUEST};
use mcparley_model::text::beginning;
use mcparley_model::tool::Tool;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Dialect;
use super::accepted::is_accepted;
use super::back::Back;
use super::json_schema::JsonSchema;
use super::open_api;
use super::part::{About, Rest};
use super::read::Reader;

/// A tool as an API is told it.
#[derive(Clone, Debug)]
pub(in crate::catalog) struct Rewritten {
    pub(super) description: String,
    pub(super) parameters: Parameters,
    pub(super) back: Back,
}

/// The schema of the arguments.
#[derive(Clone, Debug)]
pub(super) enum Parameters {
    /// The tool's own.
    Own,
    /// There are none to speak of.
    None,
    Other(Box<RawValue>),
}

/// Why a model is not told of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Withholding {
    /// Its schema is larger than any that is looked into, or becomes so.
    TooLarge,
    /// Its schema cannot be read.
    Unreadable,
    /// Its schema fits no object, and arguments are one.
    NotAnObject,
    /// Its arguments have no names of their own, and the API has no form for that.
    Nameless,
    /// The request has as many tools as the API takes.
    TooMany,
}

impl Rewritten {
    /// The tool for an API.
    pub(in crate::catalog) fn new(dialect: Dialect, tool: &Tool) -> Result<Self, Withholding> {
        let text = tool.input_schema.get();
        if text.len() > SCHEMA_BYTES {
            return Err(Withholding::TooLarge);
        }
        let schema: Value = serde_json::from_str(text).map_err(|_| Withholding::Unreadable)?;
        let (description, overflow) = dialect.description(&tool.description);
        if overflow.is_none() && is_accepted(dialect, &schema) {
            return Ok(Self { description, parameters: Parameters::Own, back: Back::default() });
        }
        let (part, object) = Reader::new(&schema).arguments(&schema).map_err(|_| Withholding::NotAnObject)?;
        let about = About { description: joined(overflow, part.about.description.clone()), ..part.about };
        if dialect != Dialect::Gemini {
            let printed = JsonSchema::of(dialect).arguments(&object, &about);
            return Self::other(description, &printed.schema.into(), printed.back);
        }
        match (object.properties.is_empty(), &object.rest) {
            (true, Rest::Of(_)) => return Err(Withholding::Nameless),
            (true, Rest::Open | Rest::Closed) => {
                return Ok(Self { description, parameters: Parameters::None, back: Back::default() });
            }
            (false, _) => {}
        }
        let printed = open_api::arguments(&object, &about);
        Self::other(description, &printed.schema.into(), printed.back)
    }

    fn other(description: String, schema: &Value, back: Back) -> Result<Self, Withholding> {
        let schema = to_raw_value(schema).map_err(|_| Withholding::Unreadable)?;
        if schema.get().len() > SCHEMA_BYTES {
            return Err(Withholding::TooLarge);
        }
        Ok(Self { description, parameters: Parameters::Other(schema), back: back.reduced() })
    }

    /// Whether the model is told anything else than what the server said.
    pub(super) fn is_changed(&self) -> bool {
        !matches!(self.parameters, Parameters::Own)
    }
}

impl Dialect {
    /// The description as far as it is taken, and what is left of it.
    fn description(self, text: &str) -> (String, Option<String>) {
        match self {
            Self::Anthropic | Self::Gemini => (text.to_owned(), None),
            Self::OpenAi | Self::OpenAiChat => match beginning(text, OPENAI_DESCRIPTION_CHARS) {
                None => (text.to_owned(), None),
                Some(first) => (first.to_owned(), text.get(first.len()..).map(str::to_owned)),
            },
        }
    }
}

fn joined(one: Option<String>, two: Option<String>) -> Option<String> {
    match (one, two) {
        (Some(one), Some(two)) => Some(format!("{one}\n{two}")),
        (one, two) => one.or(two),
    }
}

impl fmt::Display for Withholding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "its schema has more than {SCHEMA_BYTES} bytes"),
            Self::Unreadable => f.write_str("its schema cannot be read"),
            Self::NotAnObject => f.write_str("its schema fits no object"),
            Self::Nameless => f.write_str("its arguments have no names of their own"),
            Self::TooMany => write!(f, "the API takes {TOOLS_PER_REQUEST} tools"),
        }
    }
}
