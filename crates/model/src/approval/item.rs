//! What can wait for approval, and who can have written it.

use std::fmt;

use serde::Serialize;

use super::Pending;
use crate::scope::Origin;
use crate::secret::Secret;
use crate::signature::Definition;

/// Who can have written an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// The user, the administrator or the embedding program: files outside of the project folder, options, calls.
    #[default]
    Own,
    /// Whoever made the project folder: a file below it.
    Folder,
}

/// The kinds of things that a folder brings and that wait for approval.
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
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Server, Self::Variable, Self::Rule, Self::Hook];

    /// The key of the approval store that holds approvals of this kind.
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

/// One thing that a folder brings, by kind, name and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its name: of a server or a variable; the text of a rule; the event of a hook.
    pub name: String,
    /// The hash of its content.
    pub content: Definition,
}

impl Item {
    /// A server, as it expands or as it is written.
    #[must_use]
    pub fn server(name: &str, content: Definition) -> Self {
        Self { kind: ItemKind::Server, name: name.to_owned(), content }
    }

    /// A rule that allows.
    #[must_use]
    pub fn rule(text: &str) -> Self {
        let text = text.trim();
        Self { kind: ItemKind::Rule, name: text.to_owned(), content: Definition::of_rule(text) }
    }

    /// A variable of `env`.
    #[must_use]
    pub fn variable(name: &str, value: &Secret<String>) -> Self {
        let content = Definition::of_variable(name, value);
        Self { kind: ItemKind::Variable, name: name.to_owned(), content }
    }
}

/// A variable or an allow rule of the folder that does not count yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingItem {
    /// What it is.
    pub item: Item,
    /// What it says, whole: somebody else wrote it, so nothing of it is the user's secret.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
    /// Why it waits.
    pub why: Pending,
}
