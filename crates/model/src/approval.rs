//! Decides whether a project's server may run (C7).
//!
//! A project file comes from whoever wrote the repository, so nothing of it runs before the user said yes.
//! The yes is bound to a [`Definition`]: an entry that changed is pending again. A yes counts only from files
//! the repository cannot write; a no counts from anywhere. Names compare normalised.

use crate::config::Spanned;
use crate::name::{ServerName, is_same_server};
use crate::scope::Origin;
use crate::signature::Definition;

/// What the user chose about project servers, collected from all settings.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// `enabledMcpjsonServers` of files the repository cannot write.
    pub enabled: Vec<Spanned<ServerName>>,
    /// What each of them was when it was approved: `mcpjsonServerDefinitions`.
    pub definitions: Vec<(ServerName, String)>,
    /// `enableAllProjectMcpServers`, where it is true.
    pub enable_all: Option<Origin>,
    /// `disabledMcpjsonServers` of any file.
    pub rejected: Vec<Spanned<ServerName>>,
    /// Approvals inside the project's folder, which count for nothing.
    pub claimed: Vec<Spanned<ServerName>>,
}

/// How the program runs, as far as approval is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Session {
    /// A person can be asked.
    #[default]
    Interactive,
    /// Nobody can be asked, and nothing was said about project files.
    Headless,
    /// Nobody can be asked, and the project's settings were asked for by name.
    HeadlessWithProject,
}

/// The answer for one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may run.
    Approved,
    /// The user said no.
    Rejected {
        /// Where.
        by: Origin,
    },
    /// The user has not said yes to this definition.
    Pending(Pending),
}

/// Why a server still waits for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Nobody decided yet.
    Undecided,
    /// It was approved, and is something else now.
    Changed,
    /// It is approved by name only, which says nothing about what runs.
    NameOnly {
        /// Where.
        by: Origin,
    },
    /// The only approval stands in the project's own folder.
    SelfApproved {
        /// Where.
        by: Origin,
    },
}

impl std::fmt::Display for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Undecided => f.write_str("comes with the project and was not approved yet"),
            Self::Changed => f.write_str("changed since it was approved"),
            Self::NameOnly { by } => write!(f, "is approved by name only ({by}), not for what it runs"),
            Self::SelfApproved { by } => {
                write!(f, "a file in the project's folder cannot approve the project's servers ({by})")
            }
        }
    }
}

impl Choices {
    /// The answer for the server `name`, defined as `definition`.
    #[must_use]
    pub fn approval(&self, name: &ServerName, definition: &Definition, session: Session) -> Approval {
        let is_it = |other: &ServerName| is_same_server(other.as_str(), name.as_str());
        let named = |entry: &&Spanned<ServerName>| is_it(&entry.value);
        if let Some(rejection) = self.rejected.iter().find(named) {
            return Approval::Rejected { by: rejection.origin.clone() };
        }
        if self.enable_all.is_some() || session == Session::HeadlessWithProject {
            return Approval::Approved;
        }
        let Some(yes) = self.enabled.iter().find(named) else {
            let claim = self.claimed.iter().find(named);
            return Approval::Pending(
                claim.map_or(Pending::Undecided, |claim| Pending::SelfApproved { by: claim.origin.clone() }),
            );
        };
        let mut known = self.definitions.iter().filter(|(name, _)| is_it(name)).peekable();
        if known.peek().is_none() {
            return Approval::Pending(Pending::NameOnly { by: yes.origin.clone() });
        }
        let approved = definition.to_string();
        if known.any(|(_, definition)| *definition == approved) {
            Approval::Approved
        } else {
            Approval::Pending(Pending::Changed)
        }
    }
}

#[cfg(test)]
mod tests;
