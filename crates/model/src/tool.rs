//! What a server says about one of its tools, taken apart with care.
//!
//! Everything here is the server's word: texts are cleaned and cut before anyone sees them, hints never decide
//! a permission, and a tool that cannot be used is withheld alone, with the reason (N4–N8).

mod change;
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
use crate::text::{clean, cut};
pub use change::DefinitionChange;
use entry::Written;
pub use header::{HeaderFault, HeaderParam, headers};
pub use record::{Digest, Record};

/// A tool that can be offered. Hosts hold thousands, so nothing in it has room to grow.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name as the server announced it; what a call must name.
    pub name: ToolName,
    /// A name for people.
    pub title: Option<Box<str>>,
    /// What it does, cleaned and cut.
    pub description: Box<str>,
    /// The JSON Schema of its arguments: as it came, unless there was something to clean.
    pub input_schema: Box<RawValue>,
    /// The JSON Schema of its structured result.
    pub output_schema: Option<Box<RawValue>>,
    /// What it says about its effects.
    pub hints: Hints,
    /// Words to find it by.
    pub search_hint: Option<Box<str>>,
    /// When it wants to be in a model's list.
    pub loading: Loading,
    /// The arguments that an HTTP request of the new era tells in its headers too; see [`headers`].
    pub header_params: Box<[HeaderParam]>,
    /// Whether it is called as a task.
    pub task: TaskSupport,
    /// How many characters of a result it claims for a model's window, within [`RESULT_CHARS_CLAIMED`].
    pub result_chars: Option<usize>,
    /// Who the tool is for.
    pub audience: Audience,
    /// Whether the server itself says that it destroys; by default every tool that writes may.
    pub says_destructive: bool,
}

/// Who a tool is for, as its server says (`_meta.ui.visibility`, MCP Apps).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Audience {
    /// A model, and possibly apps too.
    #[default]
    Model,
    /// The user interface that the server brings, and no model.
    Apps,
    /// Neither: people and programs that ask for it by name.
    Direct,
}

impl Audience {
    /// Reads `_meta.ui.visibility`; without one that is as it must be, the tool is for a model.
    fn read(meta: Option<&Map<String, Value>>) -> Self {
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

/// What a tool says about its effects. Hints of an untrusted party: they order work, they permit nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// Doing it twice is doing it once.
    pub idempotent: bool,
    /// It reaches beyond this machine.
    pub open_world: bool,
}

/// When a tool wants to be in a model's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loading {
    /// When there is room.
    #[default]
    Normal,
    /// Always.
    Always,
    /// Only when it is searched for.
    Deferred,
}

/// Whether a tool of 2025-11-25 is called as a task, which goes on by itself and is looked at now and then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// It is not.
    #[default]
    Forbidden,
    /// It can be.
    Optional,
    /// It has to be.
    Required,
}

impl TaskSupport {
    fn read(execution: Option<&Map<String, Value>>) -> Self {
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

/// Why a tool is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not an object.
    NotAnObject,
    /// A field is missing or of the wrong kind.
    Field {
        /// The field.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// An `x-mcp-header` of its schema breaks the rules.
    Header(HeaderFault),
    /// Another tool of the server has this name already.
    Twice,
    /// Something that was found out in an earlier run, in its words.
    Earlier(String),
}

/// A tool that is not offered, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// What is left of its name, cleaned.
    pub name: String,
    /// Why.
    pub fault: Fault,
}

impl Tool {
    /// Reads one entry of a tools list.
    ///
    /// # Errors
    /// [`Withheld`], when a model could not use it.
    pub fn read(entry: &RawValue) -> Result<Self, Withheld> {
        let withheld = |name: &str, fault| Withheld { name: cut(&clean(name), 64).into_owned(), fault };
        let written: Written<'_> =
            serde_json::from_str(entry.get()).map_err(|_| withheld("", Fault::NotAnObject))?;
        let Some(name) = written.name() else {
            return Err(withheld("", Fault::Field { name: "name", expected: "a string" }));
        };
        Self::from_entry(&name, &written).map_err(|fault| withheld(&name, fault))
    }

    fn from_entry(name: &str, written: &Written<'_>) -> Result<Self, Fault> {
        let (annotations, meta) = (written.annotations(), written.meta());
        let titled = |annotations: &Map<String, Value>| Some(annotations.get("title")?.as_str()?.to_owned());
        let title = written.title()?.or_else(|| annotations.as_ref().and_then(titled).map(Cow::Owned));
        let hint = meta.as_ref().and_then(|meta| meta.get("anthropic/searchHint")).and_then(Value::as_str);
        let shown = |text: &str| Box::from(cut(&clean(text), DESCRIPTION_CHARS));
        let says_destructive =
            annotations.as_ref().and_then(|map| map.get("destructiveHint")) == Some(&Value::Bool(true));
        Ok(Self {
            name: ToolName::new(name),
            title: title.as_deref().map(shown),
            description: written.description()?.as_deref().map(shown).unwrap_or_default(),
            input_schema: written.input_schema()?,
            output_schema: written.output_schema(),
            hints: Hints::read(annotations.as_ref()),
            search_hint: hint.map(|hint| clean(hint).split_whitespace().collect::<Vec<_>>().join(" ").into()),
            loading: Loading::read(meta.as_ref()),
            header_params: written.header_params()?.into(),
            task: TaskSupport::read(written.execution().as_ref()),
            result_chars: meta.as_ref().and_then(claimed_chars),
            audience: Audience::read(meta.as_ref()),
            says_destructive,
        })
    }
}

/// How long its results may be by its own word: results that must be seen whole, such as a schema, say so.
fn claimed_chars(meta: &Map<String, Value>) -> Option<usize> {
    let claimed = meta.get("anthropic/maxResultSizeChars")?.as_f64().filter(|claimed| *claimed >= 1.0)?;
    // Beyond the limit any number is the limit, so the fraction and the sign are all that is lost.
    Some((claimed.min(RESULT_CHARS_CLAIMED as f64)) as usize)
}

impl Hints {
    /// The protocol's defaults: what says nothing may write, destroy, and reach out.
    fn read(annotations: Option<&Map<String, Value>>) -> Self {
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

impl Loading {
    fn read(meta: Option<&Map<String, Value>>) -> Self {
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

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::NotAnObject => f.write_str("an entry of the tools list is not an object"),
            Fault::Field { name, expected } => write!(f, "tool `{}`: `{name}` is not {expected}", self.name),
            Fault::Header(fault) => write!(f, "tool `{}`: an `x-mcp-header` {fault}", self.name),
            Fault::Twice => write!(f, "tool `{}` is listed twice", self.name),
            Fault::Earlier(words) => f.write_str(words),
        }
    }
}

#[cfg(test)]
mod tests;
