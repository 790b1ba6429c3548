//! Decides when a server behind a URL counts as gone (L5).
//!
//! Each message is an exchange of its own, so a server that has died is noticed by nobody else: three exchanges in a row
//! that break off end the conversation, and one that finds nobody at its address ends it at once. Calls keep their own
//! failure; whether the server is reached anew is for others to decide.

use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::CONNECTION_STRIKES;

use crate::failure::{Failure, Obstacle, Phase};
use crate::peer::Inbox;

/// What an exchange shows about its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// It is there: it said something, if only no.
    There,
    /// The connection broke.
    Broken,
    /// Nobody is at its address.
    Gone,
    /// Nothing either way.
    None,
}

impl Sign {
    fn of(failure: &Failure) -> Self {
        match failure {
            // It is somebody else who is in trouble.
            Failure::Refused { obstacle: Obstacle::SignIn, .. } => Self::None,
            Failure::Refused { .. } => Self::Gone,
            Failure::Closed { .. } | Failure::TimedOut { phase: Phase::Connecting, .. } => Self::Broken,
            // It may be at work.
            Failure::TimedOut { phase: Phase::Answering, .. } | Failure::QueueFull { .. } => Self::None,
            Failure::Damaged(_)
            | Failure::Protocol(_)
            | Failure::Answered(_)
            | Failure::TooLarge { .. }
            | Failure::Unauthorized { .. }
            | Failure::Forbidden { .. }
            | Failure::SessionExpired
            | Failure::Status { .. } => Self::There,
        }
    }
}

/// How many connections in a row have broken.
#[derive(Debug, Default)]
struct Strikes(u32);

impl Strikes {
    /// Counts a sign; says whether the server is now taken for gone.
    fn count(&mut self, sign: Sign) -> bool {
        match sign {
            Sign::There => self.0 = 0,
            Sign::Broken => self.0 += 1,
            Sign::Gone => return true,
            Sign::None => {}
        }
        self.0 >= CONNECTION_STRIKES
    }
}

/// Watches whether a server can be reached, and ends the conversation when it cannot.
#[derive(Debug)]
pub(in crate::transport) struct Reach {
    inbox: Inbox,
    strikes: Mutex<Strikes>,
}

impl Reach {
    pub(in crate::transport) fn new(inbox: Inbox) -> Self {
        Self { inbox, strikes: Mutex::default() }
    }

    /// The server has answered.
    pub(in crate::transport) fn answered(&self) {
        self.strikes().count(Sign::There);
    }

    /// An exchange has come to its end, whichever.
    pub(in crate::transport) fn note(&self, outcome: &Result<(), Failure>) {
        match outcome {
            Ok(()) => self.answered(),
            Err(failure) => self.failed(failure),
        }
    }

    /// An exchange has failed. Its own call has been told by then.
    pub(in crate::transport) fn failed(&self, failure: &Failure) {
        let is_gone = self.strikes().count(Sign::of(failure));
        if is_gone {
            self.inbox.lose(failure);
        }
    }

    fn strikes(&self) -> std::sync::MutexGuard<'_, Strikes> {
        // Every change is one step, so a panic leaves nothing half done.
        self.strikes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
