//! The items that wait for approval, and the provenance of an entry.

use std::fmt;

use serde::Serialize;

use super::PendingReason;
use crate::scope::ConfigOrigin;
use crate::secret::Secret;
use crate::signature::DefinitionHash;

/// The provenance of an entry: the author that can have written it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// The user, the administrator or the embedding program: files outside of the project folder, options
    /// and calls.
    #[default]
    Own,
    /// The author of the project folder: a file below it.
    Folder,
}

/// The kinds of items that a folder brings and that wait for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// A server.
    Server,
    /// A variable of `env`.
    Variable,
    /// A rule of `permissions.allow`.
    Rule,
    /// A hook.
    Hook,
}

impl ItemKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Server, Self::Variable, Self::Rule, Self::Hook];

    /// The key in the approval store below which approvals of this kind are kept.
    #[must_use]
    pub fn store_key(self) -> &'static str {
        match self {
            Self::Server => "servers",
            Self::Variable => "variables",
            Self::Rule => "rules",
            Self::Hook => "hooks",
        }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Variable => "variable",
            Self::Rule => "rule",
            Self::Hook => "hook",
        })
    }
}

/// One item that a folder brings: its kind, its name and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalItem {
    /// The kind of item.
    pub kind: ItemKind,
    /// The name of a server or variable, the text of a rule, or the event of a hook.
    pub name: String,
    /// The hash of the content.
    pub content: DefinitionHash,
}

impl ApprovalItem {
    /// Builds the item of a server, from its hash after expansion or as written.
    #[must_use]
    pub fn for_server(name: &str, content: DefinitionHash) -> Self {
        Self { kind: ItemKind::Server, name: name.to_owned(), content }
    }

    /// Builds the item of an allow rule.
    #[must_use]
    pub fn for_rule(text: &str) -> Self {
        let text = text.trim();
        Self { kind: ItemKind::Rule, name: text.to_owned(), content: DefinitionHash::from_rule(text) }
    }

    /// Builds the item of a variable in `env`.
    #[must_use]
    pub fn for_variable(name: &str, value: &Secret<String>) -> Self {
        let content = DefinitionHash::from_variable(name, value);
        Self { kind: ItemKind::Variable, name: name.to_owned(), content }
    }
}

/// A variable or an allow rule of the folder that has no effect yet because its approval is pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingItem {
    /// The item that waits.
    pub item: ApprovalItem,
    /// The item's full text, unmasked: the folder's author wrote it, so it contains no secret of the user.
    pub text: String,
    /// The location of the item.
    pub origin: ConfigOrigin,
    /// The reason why the item waits.
    pub why: PendingReason,
}
