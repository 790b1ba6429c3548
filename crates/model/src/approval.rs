//! Decides whether something found below a project folder counts (C7).
//!
//! A folder comes from whoever made it, so its servers, variables, allow rules and hooks wait until the user approves
//! each of them. An approval is bound to the content: what changed waits again. Approvals are kept in a store of our
//! own outside of every project ([`FolderApprovals`]); those that Claude Code recorded for the same folder count when
//! they are first seen and are bound from then on ([`ClaudeCodeApprovals`]). A rejection wins over every approval and
//! counts from anywhere. Names compare normalised.

mod item;
mod record;

use crate::config::Spanned;
use crate::name::{ServerName, is_same_server};
use crate::scope::Origin;
use crate::signature::Definition;

pub use item::{Item, ItemKind, Provenance, WaitingItem};
pub use record::{FolderApprovals, Rejection};

/// What was decided about the items of a folder, collected from the approval store and all settings.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// What our approval store holds about this folder.
    pub recorded: FolderApprovals,
    /// What Claude Code recorded about this folder.
    pub claude_code: ClaudeCodeApprovals,
    /// `enabledMcpjsonServers` of managed settings.
    pub managed: Vec<Spanned<ServerName>>,
    /// `enableAllProjectMcpServers` of managed settings, where it is true.
    pub enable_all: Option<Origin>,
    /// `disabledMcpjsonServers` of any file.
    pub rejected: Vec<Spanned<ServerName>>,
    /// `enabledMcpjsonServers` of the user's settings, which approve nothing: a name is no content.
    pub by_name: Vec<Spanned<ServerName>>,
    /// `enabledMcpjsonServers` inside the project folder, which approve nothing by themselves.
    pub claimed: Vec<Spanned<ServerName>>,
    /// Whether to judge as if the user had approved everything that waits, to show what would run then.
    pub assume_approved: bool,
}

/// Approvals that Claude Code recorded for one folder in `projects[<path>]` of `~/.claude.json`.
#[derive(Clone, Debug, Default)]
pub struct ClaudeCodeApprovals {
    /// `enabledMcpjsonServers`.
    pub enabled: Vec<Spanned<ServerName>>,
    /// `hasTrustDialogAccepted`, where it is true.
    pub trusted: Option<Origin>,
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

/// The answer for one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It counts.
    Approved,
    /// It counts because Claude Code approved it, which is seen for the first time: to be recorded.
    Adopted,
    /// The user said no.
    Rejected {
        /// Where.
        by: Origin,
    },
    /// The user has not said yes to this content.
    Pending(Pending),
}

/// Why an item still waits for approval.
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

/// A server found below the project folder, as approval looks at it.
#[derive(Clone, Copy, Debug)]
pub struct FoundServer<'s> {
    /// Its name.
    pub name: &'s ServerName,
    /// What it is, expanded.
    pub definition: Definition,
    /// What it is, as written.
    pub written: Definition,
    /// Whether it stands in a `.mcp.json`, the only file whose servers Claude Code approves by name.
    pub is_in_mcp_json: bool,
}

impl Choices {
    /// Forgets what Claude Code recorded, for folders where it cannot mean one project: the home folder and `/`.
    pub fn ignore_claude_code(&mut self) {
        self.claude_code = ClaudeCodeApprovals::default();
    }

    /// The answer for a server found below the project folder.
    #[must_use]
    pub fn approve_server(&self, server: &FoundServer<'_>, session: Session) -> Approval {
        let is_it = |entry: &&Spanned<ServerName>| is_same_server(entry.value.as_str(), server.name.as_str());
        if let Some(rejection) = self.rejected.iter().find(is_it) {
            return Approval::Rejected { by: rejection.origin.clone() };
        }
        if let Some(by) = self.recorded.rejection_of_server(server.name) {
            return Approval::Rejected { by: by.clone() };
        }
        let by_administrator = self.enable_all.is_some() || self.managed.iter().any(|entry| is_it(&entry));
        if self.assume_approved || by_administrator || session == Session::HeadlessWithProject {
            return Approval::Approved;
        }
        match self.recorded.known_server(server) {
            Some(true) => return Approval::Approved,
            // Claude Code's approval is of a name; ours says that the user looked at something else.
            Some(false) => return Approval::Pending(Pending::Changed),
            None => {}
        }
        if server.is_in_mcp_json && self.adopts_server(server.name) {
            return Approval::Adopted;
        }
        let pending = |entry: &Spanned<ServerName>, why: fn(Origin) -> Pending| why(entry.origin.clone());
        let by_name = self.by_name.iter().chain(&self.claude_code.enabled).find(is_it);
        let by_name = by_name.map(|entry| pending(entry, |by| Pending::NameOnly { by }));
        let claimed = self.claimed.iter().find(is_it);
        let claimed = claimed.map(|entry| pending(entry, |by| Pending::SelfApproved { by }));
        Approval::Pending(by_name.or(claimed).unwrap_or(Pending::Undecided))
    }

    /// The answer for a variable, a rule or a hook found below the project folder.
    #[must_use]
    pub fn approve_item(&self, item: &Item, session: Session) -> Approval {
        if let Some(by) = self.recorded.rejection_of(item) {
            return Approval::Rejected { by: by.clone() };
        }
        if self.assume_approved || session == Session::HeadlessWithProject {
            return Approval::Approved;
        }
        match self.recorded.knows(item) {
            Some(true) => Approval::Approved,
            Some(false) => Approval::Pending(Pending::Changed),
            None if self.is_first_sight_of_trust() => Approval::Adopted,
            None => Approval::Pending(Pending::Undecided),
        }
    }

    /// Whether Claude Code trusts the folder, and that was not seen before.
    #[must_use]
    pub fn is_first_sight_of_trust(&self) -> bool {
        self.claude_code.trusted.is_some() && !self.recorded.saw_trust
    }

    /// The names that Claude Code approved and that were not seen before.
    pub fn names_on_first_sight(&self) -> impl Iterator<Item = &ServerName> {
        let names = self.claude_code.enabled.iter().map(|entry| &entry.value);
        names.filter(|name| !self.recorded.saw_name(name))
    }

    /// Whether Claude Code approved the server of this name, and that is seen for the first time.
    ///
    /// Newer versions move the names they know into the folder's own settings. Those count only together with the
    /// folder's first sight: later on the folder could add names of its own.
    fn adopts_server(&self, name: &ServerName) -> bool {
        let is_it = |other: &ServerName| is_same_server(other.as_str(), name.as_str());
        let in_folder = self.claimed.iter().any(|entry| is_it(&entry.value));
        (in_folder && self.is_first_sight_of_trust()) || self.names_on_first_sight().any(is_it)
    }
}

#[cfg(test)]
mod tests;
