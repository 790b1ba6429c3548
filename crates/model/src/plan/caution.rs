//! What a person should know about a server before it runs, although nothing forbids it.

use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::Planned;
use crate::command_line::{Package, Step};
use crate::config::{ServerConfig, Transport, masked_text};
use crate::name::{ServerName, mixes_alphabets, skeleton};
use crate::program::steps_of;
use crate::text::display;

/// Something about a server that deserves a second look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caution {
    /// A package runner fetches whatever release is newest.
    Unpinned(Package),
    /// A script runs what it downloads.
    DownloadedScript,
    /// The name mixes letters of several alphabets that look the same.
    MixedAlphabets,
    /// The name looks like another server's.
    LooksLike(ServerName),
}

impl Caution {
    /// What the entry alone gives reason for.
    pub(super) fn of_entry(name: &ServerName, config: Option<&ServerConfig>) -> Vec<Self> {
        let steps = match config.map(|config| &config.transport) {
            Some(Transport::Stdio(stdio)) => steps_of(stdio),
            Some(_) | None => Vec::new(),
        };
        let mut cautions: Vec<Self> = steps
            .into_iter()
            .filter_map(|step| match step {
                Step::Package(package) if !package.is_pinned() => Some(Self::Unpinned(package)),
                Step::DownloadedScript => Some(Self::DownloadedScript),
                Step::Package(_) | Step::Program(_) => None,
            })
            .collect();
        if mixes_alphabets(name.as_str()) {
            cautions.push(Self::MixedAlphabets);
        }
        cautions
    }
}

/// Marks servers whose names look alike; both are marked, because nobody can say which one is the imitation.
pub(super) fn mark_look_alikes(servers: &mut [Planned]) {
    let mut names: HashMap<String, Vec<ServerName>> = HashMap::new();
    for server in servers.iter() {
        let alike = names.entry(skeleton(server.name.as_str())).or_default();
        if !alike.contains(&server.name) {
            alike.push(server.name.clone());
        }
    }
    for server in servers.iter_mut() {
        let alike = names.get(&skeleton(server.name.as_str())).into_iter().flatten();
        let others = alike.filter(|name| **name != server.name).cloned();
        server.cautions.extend(others.map(Caution::LooksLike));
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unpinned(package) => write!(
                f,
                "`{}` fetches whatever `{}` is at the time; name an exact version",
                package.runner,
                display(&masked_text(&package.spec))
            ),
            Self::DownloadedScript => f.write_str("it runs a script that it downloads, unseen"),
            Self::MixedAlphabets => {
                f.write_str("its name mixes letters of several alphabets that look the same")
            }
            Self::LooksLike(name) => {
                write!(f, "its name looks like that of another server, `{}`", display(name.as_str()))
            }
        }
    }
}

impl Serialize for Caution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
