//! Policy entries: which servers an entry of an allow-list or deny-list matches.

use std::fmt;

use super::environment::can_change_program;
use super::url_pattern::UrlPattern;
use super::{PolicySubject, PolicyTarget};
use crate::glob::Glob;
use crate::name::is_same_server;
use crate::text;

/// One entry of an allow-list or a deny-list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyEntry {
    /// A server's name, as written or normalized.
    ServerName(String),
    /// A remote server's address.
    ServerUrl(UrlPattern),
    /// A process: the program and its arguments, one pattern each.
    ServerCommand(Vec<Glob>),
}

impl PolicyEntry {
    /// Whether the entry, on a deny-list, forbids the server.
    #[must_use]
    pub fn denies_server(&self, subject: &PolicySubject<'_>) -> bool {
        match (self, subject.target) {
            (Self::ServerCommand(pattern), PolicyTarget::Command { command, .. }) => {
                command.is_denied_by(pattern)
            }
            _ => self.matches_server(subject),
        }
    }

    /// Whether the entry, on an allow-list, permits the server.
    ///
    /// A command is permitted only if the declaration sets no variable that could select another program:
    /// the same words run another program under another `PATH`.
    #[must_use]
    pub fn allows_server(&self, subject: &PolicySubject<'_>) -> bool {
        match (self, subject.target) {
            (Self::ServerCommand(pattern), PolicyTarget::Command { command, env_names }) => {
                !env_names.iter().any(|name| can_change_program(name)) && command.is_allowed_by(pattern)
            }
            _ => self.matches_server(subject),
        }
    }

    /// The absolute path of the program, if the entry names exactly one.
    pub(super) fn program_path(&self) -> Option<&str> {
        match self {
            Self::ServerCommand(pattern) => {
                let program = pattern.first().filter(|program| program.is_literal())?;
                Some(program.as_str()).filter(|path| path.starts_with('/'))
            }
            Self::ServerName(_) | Self::ServerUrl(_) => None,
        }
    }

    /// Whether name or address match, which means the same on both lists.
    fn matches_server(&self, subject: &PolicySubject<'_>) -> bool {
        match (self, subject.target) {
            (
                Self::ServerName(name),
                PolicyTarget::Url(_) | PolicyTarget::Command { .. } | PolicyTarget::Other,
            ) => is_same_server(name, subject.name.as_str()),
            (Self::ServerUrl(pattern), PolicyTarget::Url(url)) => pattern.matches_url(url),
            (Self::ServerUrl(_), PolicyTarget::Command { .. } | PolicyTarget::Other)
            | (Self::ServerCommand(_), _) => false,
        }
    }
}

impl fmt::Display for PolicyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServerName(name) => write!(f, "serverName `{}`", text::display_line(name)),
            Self::ServerUrl(pattern) => write!(f, "serverUrl `{pattern}`"),
            Self::ServerCommand(pattern) => {
                f.write_str("serverCommand [")?;
                for (index, glob) in pattern.iter().enumerate() {
                    let before = if index == 0 { "" } else { ", " };
                    write!(f, "{before}`{}`", text::display_line(glob.as_str()))?;
                }
                f.write_str("]")
            }
        }
    }
}
