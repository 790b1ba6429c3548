//! Decides which servers may exist at all: `allowedMcpServers`, `deniedMcpServers` and `requirePinnedPackages`.
//!
//! Deny wins. What an entry matches is decided by [`Entry`]; that a managed file which cannot be read
//! allows nothing is decided by whoever reads it; which tools may be called, by [`crate::permission`].

use std::fmt;

use serde::Serialize;
use url::Url;

use crate::explain::Explain;
use crate::name::ServerName;
use crate::scope::{Origin, Scope};

mod command;
mod entry;
mod environment;
mod list;
#[cfg(test)]
mod tests;
mod url_pattern;

pub use command::ResolvedCommand;
pub use entry::Entry;
pub use environment::changes_what_runs;
pub use list::{Fault, Key, Listed, PolicyWarning, Rules};
pub use url_pattern::{UrlFault, UrlPattern, UrlPatternError};

/// Every list that holds.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    managed_allow: Option<Rules>,
    user_allow: Option<Rules>,
    deny: Vec<Listed>,
    managed_only: bool,
    /// Where pinned packages are required, if they are.
    required_pins: Option<Origin>,
}

/// A server that is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its name.
    pub name: &'a ServerName,
    /// Where it was declared.
    pub scope: Scope,
    /// What would be started or connected to.
    pub target: Target<'a>,
}

/// What would be started or connected to, after expansion.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A remote server.
    Url(&'a Url),
    /// A process.
    Command {
        /// What the command line comes down to.
        command: &'a ResolvedCommand,
        /// The names of the variables the declaration sets.
        env_names: &'a [&'a str],
    },
    /// Something without address or command, such as a server inside the embedding program.
    Other,
}

/// Whose list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// The machine's administrator.
    Managed,
    /// The user.
    User,
}

impl Policy {
    /// The settings a policy is made of.
    pub const KEYS: [&str; 4] =
        ["allowedMcpServers", "deniedMcpServers", "allowManagedMcpServersOnly", "requirePinnedPackages"];

    /// Adds an allow-list. Several of one owner count as one; an empty one allows nothing.
    ///
    /// A user's list narrows the managed one and never widens it.
    pub fn allow(&mut self, owner: Owner, rules: Rules) {
        let list = match owner {
            Owner::Managed => &mut self.managed_allow,
            Owner::User => &mut self.user_allow,
        };
        match list {
            Some(list) => list.entries.extend(rules.entries),
            None => *list = Some(rules),
        }
    }

    /// Adds a deny-list, whoever it is from.
    pub fn deny(&mut self, rules: Rules) {
        self.deny.extend(rules.entries);
    }

    /// Ignores the user's allow-list (`allowManagedMcpServersOnly`); their deny-list still counts.
    pub fn allow_managed_only(&mut self) {
        self.managed_only = true;
    }

    /// Requires that packages are pinned to a version (`requirePinnedPackages`).
    ///
    /// The origin of the first requirement is kept.
    pub fn require_pinned_packages(&mut self, origin: Origin) {
        self.required_pins.get_or_insert(origin);
    }

    /// The paths of programs that are denied, for whoever resolves links.
    #[must_use]
    pub fn denied_paths(&self) -> Vec<&str> {
        self.deny.iter().filter_map(|listed| listed.entry.program_path()).collect()
    }

    /// Judges a server; to be asked on every path that leads to one.
    ///
    /// The administrator's own servers need not be on an allow-list, but can be denied and must be pinned.
    ///
    /// # Errors
    /// The [`Violation`], if the server must not exist.
    pub fn judge(&self, subject: &Subject<'_>) -> Result<(), Violation> {
        if let Some(Listed { entry, origin }) = self.deny.iter().find(|listed| listed.entry.denies(subject)) {
            return Err(Violation::Denied { entry: entry.to_string(), origin: origin.clone() });
        }
        if let (Some(origin), Target::Command { command, .. }) = (&self.required_pins, subject.target)
            && let Some(step) = command.find_unpinned()
        {
            let (step, pin_hint) = (step.to_string(), step.to_pin_hint());
            return Err(Violation::Unpinned { step, pin_hint, origin: origin.clone() });
        }
        if subject.scope == Scope::Enterprise {
            return Ok(());
        }
        let user_allow = self.user_allow.as_ref().filter(|_| !self.managed_only);
        for (by, list) in [(Owner::Managed, self.managed_allow.as_ref()), (Owner::User, user_allow)] {
            let Some(list) = list else { continue };
            if !list.entries.iter().any(|listed| listed.entry.allows(subject)) {
                return Err(Violation::NotAllowed { by, origin: list.origin.clone() });
            }
        }
        Ok(())
    }
}

/// Why a server must not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum Violation {
    /// An entry of a deny-list matches it.
    #[error("denied by policy: {entry} ({origin})")]
    Denied {
        /// The entry.
        entry: String,
        /// Where the entry stands.
        origin: Origin,
    },
    /// There is an allow-list, and no entry of it matches.
    #[error("not on the {by} allow-list ({origin})")]
    NotAllowed {
        /// Whose list it is.
        by: Owner,
        /// Where the list stands; of several the first.
        origin: Origin,
    },
    /// Packages must be pinned, and it would fetch one of no certain version.
    #[error("policy requires pinned packages: {step} ({origin})")]
    Unpinned {
        /// The step that fetches it, as a sentence.
        step: String,
        /// How to pin it.
        #[serde(rename = "pinHint")]
        pin_hint: String,
        /// Where pins are required.
        origin: Origin,
    },
}

impl Violation {
    /// Whether an entry forbids the server itself, rather than no entry permitting it.
    #[must_use]
    pub fn is_denial(&self) -> bool {
        match self {
            Self::Denied { .. } => true,
            Self::NotAllowed { .. } | Self::Unpinned { .. } => false,
        }
    }

    /// Where the entry or the list stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Denied { origin, .. } | Self::NotAllowed { origin, .. } | Self::Unpinned { origin, .. } => {
                origin
            }
        }
    }
}

impl Explain for Violation {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Denied { origin, .. } => {
                format!("the entry stands at {origin}; only its owner can lift it")
            }
            Self::NotAllowed { by: Owner::Managed, .. } => {
                "ask the machine's administrator to add the server to `allowedMcpServers`".to_owned()
            }
            Self::NotAllowed { by: Owner::User, origin } => {
                format!("add the server to `allowedMcpServers` at {origin}")
            }
            Self::Unpinned { pin_hint, .. } => pin_hint.clone(),
        })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed",
            Self::User => "user",
        })
    }
}
