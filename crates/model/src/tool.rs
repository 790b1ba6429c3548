//! Parses tool definitions of a server, which are untrusted.
//!
//! All fields are the server's claims: texts are cleaned and truncated before they are shown, hints never
//! decide a permission, and only the unusable tool is withheld, with the reason.

mod change;
mod definition;
mod entry;
mod header;
mod record;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::limits::{DESCRIPTION_CHARS, RESULT_CHARS_CLAIMED};
use crate::name::ToolName;
use crate::text::{clean_text, truncate_text};
pub use change::DefinitionChange;
use definition::ToolDefinition;
use entry::RawToolEntry;
pub use header::{HeaderFault, HeaderParam, param_headers};
pub use record::{ToolDigest, ToolRecord};

/// The name of the host's own tool that reads further pages of a stored result.
pub const READ_RESULT: &str = "ReadResult";

/// A tool that can be offered to a model. Hosts hold thousands, so its fields have no spare capacity.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name as the server announced it, which a call must use.
    pub name: ToolName,
    /// The display name.
    pub title: Option<Box<str>>,
    /// The description, cleaned and truncated.
    pub description: Box<str>,
    /// The JSON Schema of the arguments, unchanged unless hidden characters were removed.
    pub input_schema: Box<RawValue>,
    /// The JSON Schema of the structured result.
    pub output_schema: Option<Box<RawValue>>,
    /// The tool's hints about its effects.
    pub hints: ToolHints,
    /// Additional words for tool search.
    pub search_hint: Option<Box<str>>,
    /// When the tool is loaded into a model's list.
    pub loading: ToolLoading,
    /// The arguments that an HTTP request of the new era repeats in its headers; see [`param_headers`].
    pub header_params: Box<[HeaderParam]>,
    /// Whether the tool is called as a task.
    pub task: TaskSupport,
    /// The result size in characters that the tool requests, at most [`RESULT_CHARS_CLAIMED`].
    pub result_chars: Option<usize>,
    /// The audience of the tool.
    pub audience: Audience,
    /// Whether the server explicitly declares the tool destructive; by default every tool that writes may
    /// be.
    pub says_destructive: bool,
    /// The definition as the server sent it; see [`Tool::definition_text`].
    definition: ToolDefinition,
}

/// The audience of a tool, as its server declares it (`_meta.ui.visibility`, MCP Apps).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Audience {
    /// A model, and possibly apps too.
    #[default]
    Model,
    /// The user interface that the server provides, and not a model.
    Apps,
    /// Neither: users and programs that call it by name.
    Direct,
}

impl Audience {
    /// Parses `_meta.ui.visibility`; if it is missing or invalid, the tool is for a model.
    fn from_meta(meta: Option<&Map<String, Value>>) -> Self {
        let ui = meta.and_then(|meta| meta.get("ui"));
        let Some(visibility) = ui.and_then(|ui| ui.get("visibility")).and_then(Value::as_array) else {
            return Self::Model;
        };
        let has = |word: &str| visibility.iter().any(|it| it.as_str() == Some(word));
        match (has("model"), has("app")) {
            (true, _) => Self::Model,
            (false, true) => Self::Apps,
            (false, false) => Self::Direct,
        }
    }

    /// Whether a model may be shown the tool.
    #[must_use]
    pub fn includes_model(&self) -> bool {
        *self == Self::Model
    }
}

/// A tool's hints about its effects. They come from an untrusted server: they may order work, but permit
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolHints {
    /// The tool changes nothing.
    pub read_only: bool,
    /// The tool may destroy data.
    pub destructive: bool,
    /// Repeating a call has no additional effect.
    pub idempotent: bool,
    /// The tool interacts with systems beyond this machine.
    pub open_world: bool,
}

/// When a tool is loaded into a model's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolLoading {
    /// When the budget has room.
    #[default]
    Normal,
    /// Always.
    Always,
    /// Only when a search finds it.
    Deferred,
}

/// Whether a tool of 2025-11-25 is called as a task, which runs in the background and is polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// The tool cannot be called as a task.
    #[default]
    Forbidden,
    /// The tool can be called as a task.
    Optional,
    /// The tool must be called as a task.
    Required,
}

impl TaskSupport {
    fn from_execution(execution: Option<&Map<String, Value>>) -> Self {
        match execution.and_then(|execution| execution.get("taskSupport")).and_then(Value::as_str) {
            Some("required") => Self::Required,
            Some("optional") => Self::Optional,
            Some(_) | None => Self::Forbidden,
        }
    }

    fn is_forbidden(&self) -> bool {
        *self == Self::Forbidden
    }
}

/// The reason why a tool is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolFault {
    /// The entry is not an object.
    NotAnObject,
    /// A field is missing or of the wrong kind.
    Field {
        /// The field.
        name: &'static str,
        /// The expected kind.
        expected: &'static str,
    },
    /// An `x-mcp-header` of the schema is invalid.
    Header(HeaderFault),
    /// Another tool of the server already has this name.
    Duplicate,
    /// A fault found in an earlier run, as its message.
    EarlierRun(String),
}

/// A tool that is withheld, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldTool {
    /// The tool's name, cleaned and truncated.
    pub name: String,
    /// The reason.
    pub fault: ToolFault,
}

impl Tool {
    /// Parses one entry of a tools list.
    ///
    /// # Errors
    /// [`WithheldTool`], if a model could not use it.
    pub fn parse(entry: &RawValue) -> Result<Self, WithheldTool> {
        let withheld = |name: &str, fault| WithheldTool {
            name: truncate_text(&clean_text(name), 64).into_owned(),
            fault,
        };
        let written: RawToolEntry<'_> =
            serde_json::from_str(entry.get()).map_err(|_| withheld("", ToolFault::NotAnObject))?;
        let Some(name) = written.name() else {
            return Err(withheld("", ToolFault::Field { name: "name", expected: "a string" }));
        };
        let tool = Self::from_entry(&name, &written).map_err(|fault| withheld(&name, fault))?;
        let definition = ToolDefinition::from_entry(entry, &written, &tool);
        Ok(Self { definition, ..tool })
    }

    fn from_entry(name: &str, written: &RawToolEntry<'_>) -> Result<Self, ToolFault> {
        let (annotations, meta) = (written.annotations(), written.meta());
        let titled = |annotations: &Map<String, Value>| Some(annotations.get("title")?.as_str()?.to_owned());
        let title = written.title()?.or_else(|| annotations.as_ref().and_then(titled).map(Cow::Owned));
        let hint = meta.as_ref().and_then(|meta| meta.get("anthropic/searchHint")).and_then(Value::as_str);
        let shown = |text: &str| Box::from(truncate_text(&clean_text(text), DESCRIPTION_CHARS));
        let says_destructive =
            annotations.as_ref().and_then(|map| map.get("destructiveHint")) == Some(&Value::Bool(true));
        Ok(Self {
            name: ToolName::new(name),
            title: title.as_deref().map(shown),
            description: written.description()?.as_deref().map(shown).unwrap_or_default(),
            input_schema: written.input_schema()?,
            output_schema: written.output_schema(),
            hints: ToolHints::from_annotations(annotations.as_ref()),
            search_hint: hint
                .map(|hint| clean_text(hint).split_whitespace().collect::<Vec<_>>().join(" ").into()),
            loading: ToolLoading::from_meta(meta.as_ref()),
            header_params: written.header_params()?.into(),
            task: TaskSupport::from_execution(written.execution().as_ref()),
            result_chars: meta.as_ref().and_then(claimed_chars),
            audience: Audience::from_meta(meta.as_ref()),
            says_destructive,
            definition: ToolDefinition::default(),
        })
    }
}

/// The result size that the tool requests: results that must be seen whole, such as a schema, need more
/// than the default.
fn claimed_chars(meta: &Map<String, Value>) -> Option<usize> {
    let claimed = meta.get("anthropic/maxResultSizeChars")?.as_f64().filter(|claimed| *claimed >= 1.0)?;
    // Any number beyond the limit becomes the limit, so only the fraction is lost.
    Some((claimed.min(RESULT_CHARS_CLAIMED as f64)) as usize)
}

impl ToolHints {
    /// Parses the hints with the protocol's defaults: a tool without hints may write, destroy, and reach
    /// other systems.
    fn from_annotations(annotations: Option<&Map<String, Value>>) -> Self {
        let hint = |name: &str, default: bool| {
            annotations.and_then(|map| map.get(name)).and_then(Value::as_bool).unwrap_or(default)
        };
        let read_only = hint("readOnlyHint", false);
        Self {
            read_only,
            destructive: !read_only && hint("destructiveHint", true),
            idempotent: read_only || hint("idempotentHint", false),
            open_world: hint("openWorldHint", true),
        }
    }
}

impl ToolLoading {
    fn from_meta(meta: Option<&Map<String, Value>>) -> Self {
        let is = |name: &str| meta.and_then(|meta| meta.get(name)) == Some(&Value::Bool(true));
        if is("anthropic/alwaysLoad") {
            Self::Always
        } else if is("anthropic/deferLoading") {
            Self::Deferred
        } else {
            Self::Normal
        }
    }
}

impl fmt::Display for WithheldTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            ToolFault::NotAnObject => f.write_str("an entry of the tools list is not an object"),
            ToolFault::Field { name, expected } => {
                write!(f, "tool `{}`: `{name}` is not {expected}", self.name)
            }
            ToolFault::Header(fault) => write!(f, "tool `{}`: an `x-mcp-header` {fault}", self.name),
            ToolFault::Duplicate => write!(f, "tool `{}` is listed twice", self.name),
            ToolFault::EarlierRun(words) => f.write_str(words),
        }
    }
}

#[cfg(test)]
mod tests;
