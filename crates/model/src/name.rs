//! Names: as their owners wrote them, and as a model sees them.
//!
//! Says which characters a public name may have. Who gets which public name is decided by [`Names`]; which
//! names a person may give to a new server, by [`check_new_server_name`].

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::limits::PUBLIC_NAME_LIMIT;

mod catalogue;
mod check;
mod form;
mod given;
mod look_alike;
#[cfg(test)]
mod tests;
mod tool_caution;

pub use catalogue::Names;
pub use check::{NameError, check_new_server_name, check_written_name, is_reserved_by_claude_code};
pub(crate) use form::{Identity, hash_digits};
pub use look_alike::{look_alike, mixes_alphabets, skeleton};
pub use tool_caution::{ServerTool, ToolNameCaution, ToolNameRisk};

/// What every public name begins with.
pub(crate) const PREFIX: &str = "mcp__";

/// What stands between server and tool; either may contain it too, so it never serves to take a name apart.
pub(crate) const BETWEEN: &str = "__";

/// A server's name as its owner wrote it.
///
/// Kept apart from a public name: two servers may differ here and still collide once normalised.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ServerName(Arc<str>);

/// A tool's name as its server announced it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ToolName(Arc<str>);

/// A tool's name as a model sees it: at most [`crate::limits::PUBLIC_NAME_LIMIT`] characters of `[A-Za-z0-9_-]`.
///
/// Only [`Names`] makes one, because a public name means nothing without the map back to the tool.
/// Names that differ only in case are different names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PublicName(Arc<str>);

impl ServerName {
    /// Takes the name as it is written.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ToolName {
    /// Takes the name as the server announced it.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name as the server announced it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PublicName {
    /// The name of one of the host's own tools; none when a server's tool could have it.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let fits = !name.is_empty() && name.len() <= PUBLIC_NAME_LIMIT && name.chars().all(is_public);
        (fits && !name.starts_with(PREFIX)).then(|| Self(Arc::from(name)))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for PublicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for PublicName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The server's part of a public name, before anything is shortened.
///
/// A connector's name (`claude.ai …`) comes from a catalogue and often has punctuation; its underscores
/// are collapsed and trimmed besides.
#[must_use]
pub fn normalise_server(name: &ServerName) -> String {
    normalise_server_text(name.as_str())
}

/// Whether two servers' names are the same once normalised. Policies ask this for every pair, so it makes
/// no strings unless a connector is concerned.
#[must_use]
pub fn is_same_server(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    if [left, right].iter().any(|name| name.starts_with(CONNECTOR_PREFIX)) {
        return normalise_server_text(left) == normalise_server_text(right);
    }
    left.chars().map(public).eq(right.chars().map(public))
}

/// The tool's part of a public name, before anything is shortened.
#[must_use]
pub fn normalise_tool(name: &ToolName) -> String {
    normalise(name.as_str())
}

/// What the names of an organisation's connectors begin with.
const CONNECTOR_PREFIX: &str = "claude.ai ";

pub(crate) fn normalise_server_text(name: &str) -> String {
    let normal = normalise(name);
    if name.starts_with(CONNECTOR_PREFIX) {
        let words: Vec<_> = normal.split('_').filter(|word| !word.is_empty()).collect();
        words.join("_")
    } else {
        normal
    }
}

/// The text with `_` for every character that no public name has.
pub(crate) fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    normal.extend(name.chars().map(public));
    normal
}

fn public(character: char) -> char {
    if is_public(character) { character } else { '_' }
}

fn is_public(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}
