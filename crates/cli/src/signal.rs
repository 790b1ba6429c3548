//! Signals that shut the program down in order, with their names and exit codes.

use crate::exit::{self, NamedExitCode};

/// A signal that shuts the program down in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Hangup,
    Interrupt,
    Terminate,
}

impl Signal {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hangup => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    pub(crate) fn exit_code(self) -> NamedExitCode {
        match self {
            Self::Hangup => exit::HANGUP,
            Self::Interrupt => exit::INTERRUPTED,
            Self::Terminate => exit::TERMINATED,
        }
    }
}
