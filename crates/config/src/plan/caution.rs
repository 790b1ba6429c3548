//! Cautions: warnings about a server for the user, although no rule forbids it.

use std::collections::HashMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::PlannedServer;
use mcparley_model::command_line::UnpinnedStep;
use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::name::{ServerName, mixes_alphabets, name_skeleton};
use mcparley_model::program::command_steps;
use mcparley_model::text::display_line;

/// A warning about a server that the user should see before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caution {
    /// The server's code is downloaded at every start, without a pinned version.
    Unpinned(UnpinnedStep),
    /// The name mixes look-alike letters of several alphabets.
    MixedAlphabets,
    /// The name looks like that of another server.
    LooksLike(ServerName),
}

impl Caution {
    /// The cautions that follow from the entry alone.
    pub(super) fn for_entry(name: &ServerName, config: Option<&ServerConfig>) -> Vec<Self> {
        let steps = match config.map(|config| &config.transport) {
            Some(TransportConfig::Stdio(stdio)) => command_steps(stdio),
            Some(_) | None => Vec::new(),
        };
        let mut cautions: Vec<Self> = UnpinnedStep::find_in_steps(steps).map(Self::Unpinned).collect();
        if mixes_alphabets(name.as_str()) {
            cautions.push(Self::MixedAlphabets);
        }
        cautions
    }
}

/// Marks servers whose names look alike. Both are marked, because either could be the imitation.
pub(super) fn mark_look_alikes(servers: &mut [PlannedServer]) {
    let mut names: HashMap<String, Vec<ServerName>> = HashMap::new();
    for server in servers.iter() {
        let alike = names.entry(name_skeleton(server.name.as_str())).or_default();
        if !alike.contains(&server.name) {
            alike.push(server.name.clone());
        }
    }
    for server in servers.iter_mut() {
        let alike = names.get(&name_skeleton(server.name.as_str())).into_iter().flatten();
        let others = alike.filter(|name| **name != server.name).cloned();
        server.cautions.extend(others.map(Caution::LooksLike));
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unpinned(step @ UnpinnedStep::Package(_)) => write!(f, "{step}; name an exact version"),
            Self::Unpinned(step @ (UnpinnedStep::DownloadedScript | UnpinnedStep::TooDeep)) => {
                write!(f, "{step}")
            }
            Self::MixedAlphabets => {
                f.write_str("its name mixes letters of several alphabets that look the same")
            }
            Self::LooksLike(name) => {
                write!(f, "its name looks like that of another server, `{}`", display_line(name.as_str()))
            }
        }
    }
}

impl Serialize for Caution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
