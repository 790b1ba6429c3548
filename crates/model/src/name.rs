//! Names of servers and tools: as their owners wrote them, and as a model sees them.
//!
//! Defines the characters of a public name. [`PublicNames`] decides which tool gets which public name;
//! [`check_new_server_name`] decides which names the user may give to a new server.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::limits::PUBLIC_NAME_LIMIT;

mod assign;
mod assigned;
mod candidates;
mod check;
mod look_alike;
#[cfg(test)]
mod tests;
mod tool_caution;

pub use assign::PublicNames;
pub(crate) use candidates::{ToolNameHash, hash_digits};
pub use check::{NameError, check_new_server_name, check_written_name, is_reserved_by_claude_code};
pub use look_alike::{mixes_alphabets, name_skeleton};
pub use tool_caution::{ServerTool, ToolNameCaution, ToolNameRisk};

/// The prefix of every public name.
pub(crate) const PREFIX: &str = "mcp__";

/// The separator between server and tool; either may contain it too, so a name is never split at it.
pub(crate) const BETWEEN: &str = "__";

/// A server's name as its owner wrote it.
///
/// Distinct from a public name: two servers may differ here and still collide once normalized.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ServerName(Arc<str>);

/// A tool's name as its server announced it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ToolName(Arc<str>);

/// A tool's name as a model sees it: at most [`crate::limits::PUBLIC_NAME_LIMIT`] characters of
/// `[A-Za-z0-9_-]`.
///
/// Only [`PublicNames`] creates one, because a public name means nothing without the map back to the tool.
/// Names that differ only in case are different names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PublicName(Arc<str>);

impl ServerName {
    /// Wraps the name as it is written.
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
    /// Wraps the name as the server announced it.
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
    /// The name of one of the host's own tools; `None` if a server's tool could have that name.
    #[must_use]
    pub fn for_built_in(name: &str) -> Option<Self> {
        let fits = !name.is_empty() && name.len() <= PUBLIC_NAME_LIMIT && name.chars().all(is_public_char);
        (fits && !name.starts_with(PREFIX)).then(|| Self(Arc::from(name)))
    }

    /// The name as a text.
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

/// Normalizes a server's name to its part of a public name, before shortening.
///
/// A connector's name (`claude.ai …`) comes from a catalog and often has punctuation, so its underscores
/// are also collapsed and trimmed.
#[must_use]
pub fn normalize_server(name: &ServerName) -> String {
    normalize_server_text(name.as_str())
}

/// Whether two server names are the same once normalized. Policies compare every pair, so this allocates
/// only for connectors.
#[must_use]
pub fn is_same_server(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    if [left, right].iter().any(|name| name.starts_with(CONNECTOR_PREFIX)) {
        return normalize_server_text(left) == normalize_server_text(right);
    }
    left.chars().map(to_public_char).eq(right.chars().map(to_public_char))
}

/// Whether tools of two servers could get equal public names, so that one needs a hash. Pure prefixes decide:
/// `a` and `b` never meet, but `a` with the tool `b__c` meets `a__b` with the tool `c`.
#[must_use]
pub fn may_share_names(left: &ServerName, right: &ServerName) -> bool {
    let [left, right] = [left, right].map(|server| normalize_server(server) + "__");
    left.starts_with(&right) || right.starts_with(&left)
}

/// Normalizes a tool's name to its part of a public name, before shortening.
#[must_use]
pub fn normalize_tool(name: &ToolName) -> String {
    normalize_name(name.as_str())
}

/// The prefix of the names of an organization's connectors.
const CONNECTOR_PREFIX: &str = "claude.ai ";

pub(crate) fn normalize_server_text(name: &str) -> String {
    let normal = normalize_name(name);
    if name.starts_with(CONNECTOR_PREFIX) {
        let words: Vec<_> = normal.split('_').filter(|word| !word.is_empty()).collect();
        words.join("_")
    } else {
        normal
    }
}

/// Replaces every character that public names cannot have by `_`.
pub(crate) fn normalize_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    normal.extend(name.chars().map(to_public_char));
    normal
}

fn to_public_char(character: char) -> char {
    if is_public_char(character) { character } else { '_' }
}

fn is_public_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}
