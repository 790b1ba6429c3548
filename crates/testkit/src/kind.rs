//! The kinds of hostile processes, which resist termination.

use std::ffi::OsStr;

/// How a hostile process resists termination by its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostileKind {
    /// Exits at the end of its stdin.
    Polite,
    /// Ignores the end of its stdin, `SIGINT`, `SIGTERM` and `SIGHUP`.
    Stubborn,
    /// Stubborn, with a stubborn child.
    Child,
    /// Stubborn, with a stubborn grandchild that has left its session and its parent.
    Daemon,
    /// Stubborn, with fifty such daemons.
    Daemons,
    /// Stubborn, with daemons that constantly replace themselves with a child.
    Hoppers,
}

impl HostileKind {
    /// The five kinds with which leftover processes are measured.
    pub const FIVE: [Self; 5] = [Self::Polite, Self::Stubborn, Self::Child, Self::Daemon, Self::Daemons];

    /// The word for the kind on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Polite => "polite",
            Self::Stubborn => "stubborn",
            Self::Child => "child",
            Self::Daemon => "daemon",
            Self::Daemons => "daemons",
            Self::Hoppers => "hoppers",
        }
    }

    /// Parses the word for a kind.
    pub fn from_word(word: &OsStr) -> Option<Self> {
        let kinds = Self::FIVE.into_iter().chain([Self::Hoppers]);
        kinds.into_iter().find(|kind| word == kind.as_str())
    }

    /// The number of its processes while it is ready.
    pub fn process_count(self) -> usize {
        match self {
            Self::Polite | Self::Stubborn => 1,
            Self::Child | Self::Daemon => 2,
            Self::Daemons => 51,
            Self::Hoppers => 5,
        }
    }
}
