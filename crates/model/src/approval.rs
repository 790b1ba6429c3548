//! Decides whether a server, variable, rule or hook found below a project folder is approved.
//!
//! A folder is written by its author, not by the user, so its servers, variables, allow rules and hooks
//! wait until the user approves each of them. An approval is bound to a hash of the content: changed
//! content waits again. Approvals are kept in a store of our own outside of every project
//! ([`FolderApprovals`]); those that Claude Code recorded for the same folder are adopted when they are
//! first seen and bound to the content from then on ([`ClaudeCodeApprovals`]). A rejection wins over every
//! approval and is honored from any file. Names are compared normalized.

mod item;
mod record;

use crate::config::Spanned;
use crate::name::{ServerName, is_same_server};
use crate::scope::ConfigOrigin;
use crate::signature::DefinitionHash;

pub use item::{ApprovalItem, ItemKind, Provenance, WaitingItem};
pub use record::{FolderApprovals, Rejection};

/// The decisions about the items of a folder, collected from the approval store and all settings.
#[derive(Clone, Debug, Default)]
pub struct ApprovalChoices {
    /// The decisions in our approval store about this folder.
    pub recorded: FolderApprovals,
    /// The approvals that Claude Code recorded for this folder.
    pub claude_code: ClaudeCodeApprovals,
    /// `enabledMcpjsonServers` of managed settings.
    pub managed: Vec<Spanned<ServerName>>,
    /// `enableAllProjectMcpServers` of managed settings, where it is true.
    pub enable_all: Option<ConfigOrigin>,
    /// `disabledMcpjsonServers` of any file.
    pub rejected: Vec<Spanned<ServerName>>,
    /// `enabledMcpjsonServers` of the user's settings, which approve nothing: a name is not content.
    pub by_name: Vec<Spanned<ServerName>>,
    /// `enabledMcpjsonServers` inside the project folder, which cannot approve the folder's own servers.
    pub claimed: Vec<Spanned<ServerName>>,
    /// Whether to decide as if the user had approved every pending item, to preview the resulting plan.
    pub assume_approved: bool,
}

/// Approvals that Claude Code recorded for one folder in `projects[<path>]` of `~/.claude.json`.
#[derive(Clone, Debug, Default)]
pub struct ClaudeCodeApprovals {
    /// `enabledMcpjsonServers`.
    pub enabled: Vec<Spanned<ServerName>>,
    /// `hasTrustDialogAccepted`, where it is true.
    pub trusted: Option<ConfigOrigin>,
}

/// Whether this run of the program is interactive, which decides how pending items are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interactivity {
    /// The user can be asked.
    #[default]
    Interactive,
    /// The user cannot be asked, and project files were not requested.
    Headless,
    /// The user cannot be asked, and the project's settings were requested by name on the command line.
    HeadlessWithProject,
}

/// The approval decision for one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// The item is approved.
    Approved,
    /// The item is approved by a record of Claude Code that is seen for the first time and has to be
    /// stored.
    Adopted,
    /// The user rejected the item.
    Rejected {
        /// The location of the rejection.
        by: ConfigOrigin,
    },
    /// The user has not approved this content.
    Pending(PendingReason),
}

/// The reason why an item still waits for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingReason {
    /// The user has not decided yet.
    Undecided,
    /// The item was approved, and its content has changed since.
    Changed,
    /// The item is approved by name only, which does not cover the command it runs.
    NameOnly {
        /// The location of the approval by name.
        by: ConfigOrigin,
    },
    /// The only approval is in the project's own folder.
    SelfApproved {
        /// The location of that approval.
        by: ConfigOrigin,
    },
}

impl std::fmt::Display for PendingReason {
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

/// A server found below the project folder, reduced to the facts that approval compares.
#[derive(Clone, Copy, Debug)]
pub struct FolderServer<'s> {
    /// The server's name.
    pub name: &'s ServerName,
    /// The hash of the entry after expansion.
    pub definition: DefinitionHash,
    /// The hash of the entry as it is written.
    pub written: DefinitionHash,
    /// Whether the entry is in a `.mcp.json`, the only file with servers that Claude Code approves by name.
    pub is_in_mcp_json: bool,
}

impl ApprovalChoices {
    /// Discards the approvals of Claude Code for folders that do not stand for one project: the home folder
    /// and `/`.
    pub fn ignore_claude_code_approvals(&mut self) {
        self.claude_code = ClaudeCodeApprovals::default();
    }

    /// Decides whether a server found below the project folder is approved.
    #[must_use]
    pub fn decide_server_approval(&self, server: &FolderServer<'_>, session: Interactivity) -> Approval {
        let is_it = |entry: &&Spanned<ServerName>| is_same_server(entry.value.as_str(), server.name.as_str());
        if let Some(rejection) = self.rejected.iter().find(is_it) {
            return Approval::Rejected { by: rejection.origin.clone() };
        }
        if let Some(by) = self.recorded.server_rejection(server.name) {
            return Approval::Rejected { by: by.clone() };
        }
        let by_administrator = self.enable_all.is_some() || self.managed.iter().any(|entry| is_it(&entry));
        if self.assume_approved || by_administrator || session == Interactivity::HeadlessWithProject {
            return Approval::Approved;
        }
        match self.recorded.is_server_approved(server) {
            Some(true) => return Approval::Approved,
            // Claude Code approves a name; our record shows that the user approved other content.
            Some(false) => return Approval::Pending(PendingReason::Changed),
            None => {}
        }
        if server.is_in_mcp_json && self.can_adopt_server(server.name) {
            return Approval::Adopted;
        }
        let pending =
            |entry: &Spanned<ServerName>, why: fn(ConfigOrigin) -> PendingReason| why(entry.origin.clone());
        let by_name = self.by_name.iter().chain(&self.claude_code.enabled).find(is_it);
        let by_name = by_name.map(|entry| pending(entry, |by| PendingReason::NameOnly { by }));
        let claimed = self.claimed.iter().find(is_it);
        let claimed = claimed.map(|entry| pending(entry, |by| PendingReason::SelfApproved { by }));
        Approval::Pending(by_name.or(claimed).unwrap_or(PendingReason::Undecided))
    }

    /// Decides whether a variable, a rule or a hook found below the project folder is approved.
    #[must_use]
    pub fn decide_item_approval(&self, item: &ApprovalItem, session: Interactivity) -> Approval {
        if let Some(by) = self.recorded.item_rejection(item) {
            return Approval::Rejected { by: by.clone() };
        }
        if self.assume_approved || session == Interactivity::HeadlessWithProject {
            return Approval::Approved;
        }
        match self.recorded.is_item_approved(item) {
            Some(true) => Approval::Approved,
            Some(false) => Approval::Pending(PendingReason::Changed),
            None if self.has_unrecorded_trust() => Approval::Adopted,
            None => Approval::Pending(PendingReason::Undecided),
        }
    }

    /// Whether Claude Code trusts the folder and our store has not recorded that trust yet.
    #[must_use]
    pub fn has_unrecorded_trust(&self) -> bool {
        self.claude_code.trusted.is_some() && !self.recorded.saw_trust
    }

    /// The server names that Claude Code approved and that our store has not recorded yet.
    pub fn unrecorded_names(&self) -> impl Iterator<Item = &ServerName> {
        let names = self.claude_code.enabled.iter().map(|entry| &entry.value);
        names.filter(|name| !self.recorded.has_recorded_name(name))
    }

    /// Whether the server is approved by a record of Claude Code that is seen for the first time.
    ///
    /// Newer versions of Claude Code move the approved names into the folder's own settings. Those names
    /// are honored only while the folder's trust is new: later the folder could add names of its own.
    fn can_adopt_server(&self, name: &ServerName) -> bool {
        let is_it = |other: &ServerName| is_same_server(other.as_str(), name.as_str());
        let in_folder = self.claimed.iter().any(|entry| is_it(&entry.value));
        (in_folder && self.has_unrecorded_trust()) || self.unrecorded_names().any(is_it)
    }
}

#[cfg(test)]
mod tests;
