//! What a person should know about a server before it runs, although nothing forbids it.

use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::Planned;
use crate::command_line::UnpinnedStep;
use crate::config::{ServerConfig, Transport};
use crate::name::{ServerName, mixes_alphabets, skeleton};
use crate::program::steps_of;
use crate::text::display;

/// Something about a server that deserves a second look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caution {
    /// Its code is fetched at every start and may be another one each time.
    Unpinned(UnpinnedStep),
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
        let mut cautions: Vec<Self> = UnpinnedStep::find(steps).map(Self::Unpinned).collect();
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
            Self::Unpinned(step @ UnpinnedStep::Package(_)) => write!(f, "{step}; name an exact version"),
            Self::Unpinned(step @ UnpinnedStep::DownloadedScript) => write!(f, "{step}"),
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
