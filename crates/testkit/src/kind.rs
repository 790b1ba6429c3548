//! The ways in which a process refuses to end.

use std::ffi::OsStr;

/// What a hostile process does when its host wants it gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Exits at the end of its input.
    Polite,
    /// Ignores the end of its input, `SIGINT`, `SIGTERM` and `SIGHUP`.
    Stubborn,
    /// Stubborn, with a stubborn child.
    Child,
    /// Stubborn, with a stubborn grandchild that has left its session and its parent.
    Daemon,
    /// Stubborn, with fifty of those.
    Daemons,
    /// Stubborn, with daemons that are replaced by a child of their own every moment.
    Hoppers,
}

impl Kind {
    /// The five kinds that every figure about leftovers is measured with.
    pub const FIVE: [Self; 5] = [Self::Polite, Self::Stubborn, Self::Child, Self::Daemon, Self::Daemons];

    /// The word on the command line.
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

    /// The kind a word means.
    pub fn from_word(word: &OsStr) -> Option<Self> {
        let kinds = Self::FIVE.into_iter().chain([Self::Hoppers]);
        kinds.into_iter().find(|kind| word == kind.as_str())
    }

    /// How many processes it consists of while it is ready.
    pub fn processes(self) -> usize {
        match self {
            Self::Polite | Self::Stubborn => 1,
            Self::Child | Self::Daemon => 2,
            Self::Daemons => 51,
            Self::Hoppers => 5,
        }
    }
}
