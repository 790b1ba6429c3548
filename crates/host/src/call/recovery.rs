//! Decides what follows a failed call.
//!
//! Pure on purpose: repeating is where double writes are born, so every rule here is a line in a table test.
//! Opening connections is done by [`crate::connection`].

use mcparley_wire::Failure;

use super::error::Executed;

/// What has been tried for this call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// How often it was repeated on another connection.
    pub(super) repeats: u32,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Repeat it on a connection younger than the one it failed on.
    Reopen,
    /// Repeat it on whatever connection there is.
    Repeat,
    /// Tell the caller; the server wants a sign-in.
    SignIn,
    /// Tell the caller.
    GiveUp,
}

/// What follows `failure`. `harmless` tools may be executed twice: they only read, or twice is once.
pub(super) fn next_step(failure: &Failure, spent: Spent, harmless: bool) -> Step {
    let first = spent.repeats == 0;
    match failure {
        // The server has executed nothing: it did not know the session, or was never reached.
        Failure::SessionExpired | Failure::Refused { .. } if first => Step::Reopen,
        Failure::Closed { sent: false, .. } if first => Step::Reopen,
        // What may have been executed is repeated only where twice is once (K6).
        Failure::Closed { sent: true, .. } if first && harmless => Step::Repeat,
        Failure::Unauthorized { .. } => Step::SignIn,
        Failure::SessionExpired
        | Failure::Refused { .. }
        | Failure::Closed { .. }
        | Failure::TimedOut { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::Answered(_)
        | Failure::TooLarge { .. }
        | Failure::Forbidden { .. }
        | Failure::Status { .. }
        | Failure::QueueFull { .. } => Step::GiveUp,
    }
}

/// Whether a call that failed like this has done something.
pub(super) fn executed(failure: &Failure) -> Executed {
    match failure {
        Failure::SessionExpired
        | Failure::Refused { .. }
        | Failure::Unauthorized { .. }
        | Failure::Forbidden { .. }
        | Failure::QueueFull { .. }
        | Failure::Closed { sent: false, .. } => Executed::No,
        Failure::Answered(_) => Executed::Yes,
        Failure::TooLarge { .. }
        | Failure::Closed { sent: true, .. }
        | Failure::TimedOut { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::Status { .. } => Executed::Unknown,
    }
}

#[cfg(test)]
mod tests;
