//! Decides when a server behind a URL counts as unreachable.
//!
//! Each message is an exchange of its own, so the death of a server shows only in failed exchanges: three in
//! a row that break off end the connection, and a refused connection ends it at once. Calls keep their own
//! failure; reconnecting is decided elsewhere.

use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::CONNECTION_STRIKES;

use crate::failure::{Failure, FailurePhase, Obstacle};
use crate::peer::Inbox;

/// Evidence of an exchange about its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReachabilitySign {
    /// The server is alive: it responded, if only with an error.
    There,
    /// The connection broke.
    Broken,
    /// No server is listening at the address.
    Gone,
    /// No evidence either way.
    None,
}

impl ReachabilitySign {
    fn from_failure(failure: &Failure) -> Self {
        match failure {
            // The authorization server has failed, not this one.
            Failure::Refused { obstacle: Obstacle::SignIn, .. } => Self::None,
            Failure::Refused { .. } => Self::Gone,
            Failure::Closed { .. } | Failure::TimedOut { phase: FailurePhase::Connecting, .. } => {
                Self::Broken
            }
            // The server may still be working.
            Failure::TimedOut { phase: FailurePhase::Answering, .. } | Failure::QueueFull { .. } => {
                Self::None
            }
            Failure::Damaged(_)
            | Failure::Protocol(_)
            | Failure::ErrorResponse(_)
            | Failure::TooLarge { .. }
            | Failure::Unauthorized { .. }
            | Failure::Forbidden { .. }
            | Failure::SessionExpired
            | Failure::Status { .. } => Self::There,
        }
    }
}

/// The number of consecutive broken connections.
#[derive(Debug, Default)]
struct Strikes(u32);

impl Strikes {
    /// Counts the evidence of one exchange; returns whether the server is now considered gone.
    fn count_sign(&mut self, sign: ReachabilitySign) -> bool {
        match sign {
            ReachabilitySign::There => self.0 = 0,
            ReachabilitySign::Broken => self.0 += 1,
            ReachabilitySign::Gone => return true,
            ReachabilitySign::None => {}
        }
        self.0 >= CONNECTION_STRIKES
    }
}

/// Monitors whether a server is reachable, and ends the connection when it is not.
#[derive(Debug)]
pub(in crate::transport) struct ReachabilityMonitor {
    inbox: Inbox,
    strikes: Mutex<Strikes>,
}

impl ReachabilityMonitor {
    pub(in crate::transport) fn new(inbox: Inbox) -> Self {
        Self { inbox, strikes: Mutex::default() }
    }

    /// Records a response of the server.
    pub(in crate::transport) fn record_success(&self) {
        self.lock_strikes().count_sign(ReachabilitySign::There);
    }

    /// Records the outcome of an exchange.
    pub(in crate::transport) fn record_outcome(&self, outcome: &Result<(), Failure>) {
        match outcome {
            Ok(()) => self.record_success(),
            Err(failure) => self.record_failure(failure),
        }
    }

    /// Records a failed exchange. Its own call must have been failed before.
    pub(in crate::transport) fn record_failure(&self, failure: &Failure) {
        let is_gone = self.lock_strikes().count_sign(ReachabilitySign::from_failure(failure));
        if is_gone {
            self.inbox.lose_connection(failure);
        }
    }

    fn lock_strikes(&self) -> std::sync::MutexGuard<'_, Strikes> {
        // Every change is one step, so a panic leaves no partial change.
        self.strikes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
