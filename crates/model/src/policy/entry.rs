//! Decides which servers an entry of a policy matches.

use std::fmt;

use super::environment::changes_what_runs;
use super::url_pattern::UrlPattern;
use super::{Subject, Target};
use crate::glob::Glob;
use crate::name::is_same_server;
use crate::text;

/// One entry of an allow-list or a deny-list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A server's name, as written or normalised.
    ServerName(String),
    /// A remote server's address.
    ServerUrl(UrlPattern),
    /// A process, element by element.
    ServerCommand(Vec<Glob>),
}

impl Entry {
    /// Whether the entry, on a deny-list, forbids the server.
    #[must_use]
    pub fn denies(&self, subject: &Subject<'_>) -> bool {
        match (self, subject.target) {
            (Self::ServerCommand(pattern), Target::Command { command, .. }) => command.is_denied_by(pattern),
            _ => self.matches(subject),
        }
    }

    /// Whether the entry, on an allow-list, permits the server.
    ///
    /// A command counts only if the declaration leaves alone what decides which program that is: the same
    /// words run something else under another `PATH`.
    #[must_use]
    pub fn allows(&self, subject: &Subject<'_>) -> bool {
        match (self, subject.target) {
            (Self::ServerCommand(pattern), Target::Command { command, env_names }) => {
                !env_names.iter().any(|name| changes_what_runs(name)) && command.is_allowed_by(pattern)
            }
            _ => self.matches(subject),
        }
    }

    /// The one path it names as a program.
    pub(super) fn program_path(&self) -> Option<&str> {
        match self {
            Self::ServerCommand(pattern) => {
                let program = pattern.first().filter(|program| program.is_literal())?;
                Some(program.as_str()).filter(|path| path.starts_with('/'))
            }
            Self::ServerName(_) | Self::ServerUrl(_) => None,
        }
    }

    /// Whether name or address fit, which means the same on both lists.
    fn matches(&self, subject: &Subject<'_>) -> bool {
        match (self, subject.target) {
            (Self::ServerName(name), Target::Url(_) | Target::Command { .. } | Target::Other) => {
                is_same_server(name, subject.name.as_str())
            }
            (Self::ServerUrl(pattern), Target::Url(url)) => pattern.matches(url),
            (Self::ServerUrl(_), Target::Command { .. } | Target::Other) | (Self::ServerCommand(_), _) => {
                false
            }
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServerName(name) => write!(f, "serverName `{}`", text::display(name)),
            Self::ServerUrl(pattern) => write!(f, "serverUrl `{pattern}`"),
            Self::ServerCommand(pattern) => {
                f.write_str("serverCommand [")?;
                for (index, glob) in pattern.iter().enumerate() {
                    let before = if index == 0 { "" } else { ", " };
                    write!(f, "{before}`{}`", text::display(glob.as_str()))?;
                }
                f.write_str("]")
            }
        }
    }
}
