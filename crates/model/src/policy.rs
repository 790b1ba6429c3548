//! Server policy: decides which servers may exist at all, by `allowedMcpServers`, `deniedMcpServers` and
//! `requirePinnedPackages`.
//!
//! Deny rules win. [`PolicyEntry`] defines which servers an entry matches; the reader of the files ensures
//! that an unreadable managed file allows nothing; `permission` decides which tools may be called.

use std::fmt;

use serde::Serialize;
use url::Url;

use crate::explain::Explain;
use crate::name::ServerName;
use crate::scope::{ConfigOrigin, Scope};

mod command;
mod entry;
mod environment;
mod list;
#[cfg(test)]
mod tests;
mod url_pattern;

pub use command::ResolvedCommand;
pub use entry::PolicyEntry;
pub use environment::can_change_program;
pub use list::{LocatedPolicyEntry, PolicyFault, PolicyKey, PolicyList, PolicyWarning};
pub use url_pattern::{UrlPattern, UrlPatternError, UrlPatternFault};

/// The combined allow-lists, deny-lists and pin requirements of all settings.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    managed_allow: Option<PolicyList>,
    user_allow: Option<PolicyList>,
    deny: Vec<LocatedPolicyEntry>,
    managed_only: bool,
    /// The location of the setting that requires pinned packages, if there is one.
    required_pins: Option<ConfigOrigin>,
}

/// A server that is checked against the policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicySubject<'a> {
    /// The server's name.
    pub name: &'a ServerName,
    /// The scope of its declaration.
    pub scope: Scope,
    /// The process or address that the server uses.
    pub target: PolicyTarget<'a>,
}

/// The target of a server: the process it would start or the address it would connect to, after expansion.
#[derive(Clone, Copy, Debug)]
pub enum PolicyTarget<'a> {
    /// A remote server.
    Url(&'a Url),
    /// A process.
    Command {
        /// The resolved command line.
        command: &'a ResolvedCommand,
        /// The names of the environment variables in the declaration.
        env_names: &'a [&'a str],
    },
    /// A server without address or command, such as one inside the embedding program.
    Other,
}

/// The owner of a policy list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyOwner {
    /// The machine's administrator.
    Managed,
    /// The user.
    User,
}

impl Policy {
    /// The keys of policy in settings.
    pub const KEYS: [&str; 4] =
        ["allowedMcpServers", "deniedMcpServers", "allowManagedMcpServersOnly", "requirePinnedPackages"];

    /// Adds an allow-list. Several lists of one owner are merged; an empty list allows nothing.
    ///
    /// A user's list narrows the managed one and never widens it.
    pub fn add_allow_list(&mut self, owner: PolicyOwner, rules: PolicyList) {
        let list = match owner {
            PolicyOwner::Managed => &mut self.managed_allow,
            PolicyOwner::User => &mut self.user_allow,
        };
        match list {
            Some(list) => list.entries.extend(rules.entries),
            None => *list = Some(rules),
        }
    }

    /// Adds a deny-list of any owner.
    pub fn add_deny_list(&mut self, rules: PolicyList) {
        self.deny.extend(rules.entries);
    }

    /// Ignores the user's allow-list (`allowManagedMcpServersOnly`); the user's deny-list still applies.
    pub fn allow_managed_only(&mut self) {
        self.managed_only = true;
    }

    /// Requires that packages are pinned to a version (`requirePinnedPackages`).
    ///
    /// The location of the first requirement is kept.
    pub fn require_pinned_packages(&mut self, origin: ConfigOrigin) {
        self.required_pins.get_or_insert(origin);
    }

    /// The paths of denied programs, for the finder that resolves links.
    #[must_use]
    pub fn denied_paths(&self) -> Vec<&str> {
        self.deny.iter().filter_map(|listed| listed.entry.program_path()).collect()
    }

    /// Checks a server against the policy; must be called on every path that leads to a connection.
    ///
    /// The administrator's own servers need not be on an allow-list, but can be denied and must be pinned.
    ///
    /// # Errors
    /// The [`PolicyViolation`], if the server must not exist.
    pub fn check_server(&self, subject: &PolicySubject<'_>) -> Result<(), PolicyViolation> {
        if let Some(LocatedPolicyEntry { entry, origin }) =
            self.deny.iter().find(|listed| listed.entry.denies_server(subject))
        {
            return Err(PolicyViolation::Denied { entry: entry.to_string(), origin: origin.clone() });
        }
        if let (Some(origin), PolicyTarget::Command { command, .. }) = (&self.required_pins, subject.target)
            && let Some(step) = command.first_unpinned()
        {
            let (step, pin_hint) = (step.to_string(), step.to_pin_hint());
            return Err(PolicyViolation::Unpinned { step, pin_hint, origin: origin.clone() });
        }
        if subject.scope == Scope::Enterprise {
            return Ok(());
        }
        let user_allow = self.user_allow.as_ref().filter(|_| !self.managed_only);
        for (by, list) in
            [(PolicyOwner::Managed, self.managed_allow.as_ref()), (PolicyOwner::User, user_allow)]
        {
            let Some(list) = list else { continue };
            if !list.entries.iter().any(|listed| listed.entry.allows_server(subject)) {
                return Err(PolicyViolation::NotAllowed { by, origin: list.origin.clone() });
            }
        }
        Ok(())
    }
}

/// The reason why policy forbids a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "camelCase")]
#[non_exhaustive]
pub enum PolicyViolation {
    /// An entry of a deny-list matches the server.
    #[error("denied by policy: {entry} ({origin})")]
    Denied {
        /// The entry.
        entry: String,
        /// The location of the entry.
        origin: ConfigOrigin,
    },
    /// There is an allow-list, and no entry of it matches the server.
    #[error("not on the {by} allow-list ({origin})")]
    NotAllowed {
        /// The owner of the list.
        by: PolicyOwner,
        /// The location of the list; of several the first.
        origin: ConfigOrigin,
    },
    /// Packages must be pinned, and the server would download one without a pinned version.
    #[error("policy requires pinned packages: {step} ({origin})")]
    Unpinned {
        /// A sentence about the step that downloads it.
        step: String,
        /// The hint that shows how to pin it.
        #[serde(rename = "pinHint")]
        pin_hint: String,
        /// The location of the requirement.
        origin: ConfigOrigin,
    },
}

impl PolicyViolation {
    /// Whether a deny-list forbids the server, as opposed to no allow-list permitting it.
    #[must_use]
    pub fn is_denial(&self) -> bool {
        match self {
            Self::Denied { .. } => true,
            Self::NotAllowed { .. } | Self::Unpinned { .. } => false,
        }
    }

    /// The location of the entry, the list or the requirement.
    #[must_use]
    pub fn origin(&self) -> &ConfigOrigin {
        match self {
            Self::Denied { origin, .. } | Self::NotAllowed { origin, .. } | Self::Unpinned { origin, .. } => {
                origin
            }
        }
    }
}

impl Explain for PolicyViolation {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Denied { origin, .. } => {
                format!("the entry is at {origin}; only its owner can remove it")
            }
            Self::NotAllowed { by: PolicyOwner::Managed, .. } => {
                "ask the machine's administrator to add the server to `allowedMcpServers`".to_owned()
            }
            Self::NotAllowed { by: PolicyOwner::User, origin } => {
                format!("add the server to `allowedMcpServers` at {origin}")
            }
            Self::Unpinned { pin_hint, .. } => pin_hint.clone(),
        })
    }
}

impl fmt::Display for PolicyOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed",
            Self::User => "user",
        })
    }
}
