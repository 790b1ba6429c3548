//! Rewrites one tool into the format that an API accepts, with a restorer for its arguments.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mcparley_model::limits::{OPENAI_DESCRIPTION_CHARS, SCHEMA_BYTES, TOOLS_PER_REQUEST};
use mcparley_model::text::truncated_prefix;
use mcparley_model::tool::Tool;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Dialect;
use super::json_schema::JsonSchemaPrinter;
use super::open_api;
use super::plain_schema::{OtherProperties, SchemaAnnotations};
use super::read::SchemaReader;
use super::restore::ArgumentRestorer;
use super::unchanged::is_accepted;

/// A tool in the format of an API.
#[derive(Clone, Debug)]
pub(crate) struct RewrittenTool {
    pub(super) description: String,
    pub(super) parameters: ToolParameters,
    pub(super) restorer: ArgumentRestorer,
}

/// The schema of the arguments.
#[derive(Clone, Debug)]
pub(super) enum ToolParameters {
    /// The tool's own schema, unchanged.
    Own,
    /// No schema: the tool takes no arguments.
    None,
    Other(Box<RawValue>),
}

/// The reason why a tool is withheld from a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithheldReason {
    /// The schema is too large, before or after rewriting.
    TooLarge,
    /// The schema cannot be parsed.
    Unreadable,
    /// The schema accepts no object, and arguments are always one.
    NotAnObject,
    /// The arguments have no fixed names, which the API cannot express.
    Nameless,
    /// The request already has as many tools as the API accepts.
    TooMany,
}

impl RewrittenTool {
    /// Rewrites a tool for an API.
    pub(crate) fn new(dialect: Dialect, tool: &Tool) -> Result<Self, WithheldReason> {
        let text = tool.input_schema.get();
        if text.len() > SCHEMA_BYTES {
            return Err(WithheldReason::TooLarge);
        }
        let schema: Value = serde_json::from_str(text).map_err(|_| WithheldReason::Unreadable)?;
        let (description, overflow) = dialect.split_description(&tool.description);
        if overflow.is_none() && is_accepted(dialect, &schema) {
            return Ok(Self {
                description,
                parameters: ToolParameters::Own,
                restorer: ArgumentRestorer::default(),
            });
        }
        let (part, object) =
            SchemaReader::new(&schema).read_arguments(&schema).map_err(|_| WithheldReason::NotAnObject)?;
        let about = SchemaAnnotations {
            description: join_texts(overflow, part.annotations.description.clone()),
            ..part.annotations
        };
        if dialect != Dialect::Gemini {
            let printed = JsonSchemaPrinter::for_dialect(dialect).print_arguments(&object, &about);
            return Self::with_schema(description, &printed.schema.into(), printed.restorer);
        }
        match (object.properties.is_empty(), &object.rest) {
            (true, OtherProperties::Of(_)) => return Err(WithheldReason::Nameless),
            (true, OtherProperties::Open | OtherProperties::Closed) => {
                return Ok(Self {
                    description,
                    parameters: ToolParameters::None,
                    restorer: ArgumentRestorer::default(),
                });
            }
            (false, _) => {}
        }
        let printed = open_api::print_arguments(&object, &about);
        Self::with_schema(description, &printed.schema.into(), printed.restorer)
    }

    fn with_schema(
        description: String,
        schema: &Value,
        back: ArgumentRestorer,
    ) -> Result<Self, WithheldReason> {
        let schema = to_raw_value(schema).map_err(|_| WithheldReason::Unreadable)?;
        if schema.get().len() > SCHEMA_BYTES {
            return Err(WithheldReason::TooLarge);
        }
        Ok(Self {
            description,
            parameters: ToolParameters::Other(schema),
            restorer: back.minimize_restorer(),
        })
    }

    /// Whether the model is shown another schema than the server's.
    pub(super) fn is_changed(&self) -> bool {
        !matches!(self.parameters, ToolParameters::Own)
    }
}

/// Cache of a tool in each dialect, filled on first use.
#[derive(Debug, Default)]
pub(crate) struct ToolTranslations([OnceLock<Result<Arc<RewrittenTool>, WithheldReason>>; 3]);

impl ToolTranslations {
    pub(crate) fn for_dialect(
        &self,
        dialect: Dialect,
        tool: &Tool,
    ) -> Result<Arc<RewrittenTool>, WithheldReason> {
        let [anthropic, open_ai, gemini] = &self.0;
        let kept = match dialect {
            Dialect::Anthropic => anthropic,
            // Both wrap the same schema.
            Dialect::OpenAi | Dialect::OpenAiChat => open_ai,
            Dialect::Gemini => gemini,
        };
        kept.get_or_init(|| RewrittenTool::new(dialect, tool).map(Arc::new)).clone()
    }
}

impl Dialect {
    /// Splits a description at the API's limit; the second part is the overflow.
    fn split_description(self, text: &str) -> (String, Option<String>) {
        match self {
            Self::Anthropic | Self::Gemini => (text.to_owned(), None),
            Self::OpenAi | Self::OpenAiChat => match truncated_prefix(text, OPENAI_DESCRIPTION_CHARS) {
                None => (text.to_owned(), None),
                Some(first) => (first.to_owned(), text.get(first.len()..).map(str::to_owned)),
            },
        }
    }
}

fn join_texts(one: Option<String>, two: Option<String>) -> Option<String> {
    match (one, two) {
        (Some(one), Some(two)) => Some(format!("{one}\n{two}")),
        (one, two) => one.or(two),
    }
}

impl fmt::Display for WithheldReason {
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
