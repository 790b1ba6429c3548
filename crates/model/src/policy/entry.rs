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
        self.matches(subject)
    }

    /// Whether the entry, on an allow-list, permits the server.
    ///
    /// A command counts only if the declaration leaves alone what decides which program that is: the same
    /// words run something else under another `PATH`.
    #[must_use]
    pub fn allows(&self, subject: &Subject<'_>) -> bool {
        let runs_something_else = match subject.target {
            Target::Command { env_names, .. } => env_names.iter().any(|name| changes_what_runs(name)),
            Target::Url(_) | Target::Other => false,
        };
        match self {
            Self::ServerName(_) | Self::ServerUrl(_) => self.matches(subject),
            Self::ServerCommand(_) => !runs_something_else && self.matches(subject),
        }
    }

    fn matches(&self, subject: &Subject<'_>) -> bool {
        match (self, subject.target) {
            (Self::ServerName(name), Target::Url(_) | Target::Command { .. } | Target::Other) => {
                is_same_server(name, subject.name.as_str())
            }
            (Self::ServerUrl(pattern), Target::Url(url)) => pattern.matches(url),
            (Self::ServerCommand(pattern), Target::Command { argv, .. }) => fits(pattern, argv),
            (Self::ServerUrl(_), Target::Command { .. } | Target::Other)
            | (Self::ServerCommand(_), Target::Url(_) | Target::Other) => false,
        }
    }
}

/// As many elements as the pattern has, each fitting its own: a star never swallows another argument.
fn fits(pattern: &[Glob], argv: &[&str]) -> bool {
    pattern.len() == argv.len() && pattern.iter().zip(argv).all(|(glob, element)| glob.matches(element))
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
