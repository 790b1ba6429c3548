//! Decides what follows a failed call.
//!
//! Pure on purpose: repeating is where double writes are born, so every rule here is a line in a table test.
//! Opening connections is done by [`crate::connection`].

use std::time::Duration;

use mcparley_auth::Asked;
use mcparley_model::limits::RETRY_AFTER_LONGEST;
use mcparley_model::text::Untrusted;
use mcparley_wire::{Failure, HEADER_MISMATCH, Obstacle, Phase};

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
    /// Repeat it after this long.
    Wait(Duration),
    /// Look what the tool wants in headers now, then repeat it.
    Relist,
    /// Tell the caller; the server wants a sign-in.
    SignIn,
    /// Ask the person for more rights, then repeat it.
    AskMore,
    /// Tell the caller.
    GiveUp,
}

/// What a call is like that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nature {
    /// Whether it may be executed twice: it only reads, or twice is once.
    pub(super) harmless: bool,
    /// Whether it says in headers what it says in its body, which only the new era does.
    pub(super) has_headers: bool,
    /// Whether somebody can be asked to sign in, and for more rights.
    pub(super) person: Person,
}

/// Whether somebody can sign in to the server of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Person {
    /// Nobody: its entry says who we are.
    Nobody,
    /// Somebody, later.
    Away,
    /// Somebody, now.
    There,
}

/// What follows `failure` of a call like this.
pub(super) fn next_step(failure: &Failure, spent: Spent, nature: Nature) -> Step {
    let Nature { harmless, has_headers, person } = nature;
    let first = spent.repeats == 0;
    match failure {
        // Another connection would want the same.
        Failure::Refused { obstacle: Obstacle::SignIn, .. } => Step::GiveUp,
        // The server has executed nothing: it did not know the session, or was never reached.
        Failure::SessionExpired | Failure::Refused { .. } if first => Step::Reopen,
        Failure::Closed { sent: false, .. } if first => Step::Reopen,
        // What may have been executed is repeated only where twice is once (K6).
        Failure::Closed { sent: true, .. } if first && harmless => Step::Repeat,
        // It says that it did nothing yet, and when it will; but it may be mistaken (F52).
        Failure::Status { code: 429 | 503, retry_after: Some(pause), .. }
            if first && harmless && *pause <= RETRY_AFTER_LONGEST =>
        {
            Step::Wait(*pause)
        }
        // Checked before anything is executed; the tool has other marks than we know.
        Failure::Answered(error) if first && has_headers && error.code == HEADER_MISMATCH => Step::Relist,
        Failure::Unauthorized { .. } if person != Person::Nobody => Step::SignIn,
        // Refused before anything was done, and with more rights it would not be (K4).
        Failure::Forbidden { challenge }
            if first && person == Person::There && wanted_scopes(challenge.as_ref()).is_some() =>
        {
            Step::AskMore
        }
        Failure::SessionExpired
        | Failure::Refused { .. }
        | Failure::Closed { .. }
        | Failure::TimedOut { .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::Answered(_)
        | Failure::TooLarge { .. }
        | Failure::Unauthorized { .. }
        | Failure::Forbidden { .. }
        | Failure::Status { .. }
        | Failure::QueueFull { .. } => Step::GiveUp,
    }
}

/// The rights the server says are missing; nothing if more of them would not help.
pub(super) fn wanted_scopes(challenge: Option<&Untrusted>) -> Option<Vec<Untrusted>> {
    let asked = challenge.and_then(|words| Asked::read(words.raw())).filter(Asked::wants_more_scopes)?;
    Some(asked.scope.into_iter().map(Untrusted::new).collect())
}

/// Whether a call that failed like this has done something.
pub(super) fn executed(failure: &Failure) -> Executed {
    match failure {
        Failure::SessionExpired
        | Failure::Refused { .. }
        | Failure::Unauthorized { .. }
        | Failure::Forbidden { .. }
        | Failure::QueueFull { .. }
        // Too many requests: turned away before it was looked at.
        | Failure::Status { code: 429, .. }
        | Failure::TimedOut { phase: Phase::Connecting, .. }
        | Failure::Closed { sent: false, .. } => Executed::No,
        Failure::Answered(_) => Executed::Yes,
        Failure::TooLarge { .. }
        | Failure::Closed { sent: true, .. }
        | Failure::TimedOut { phase: Phase::Answering, .. }
        | Failure::Damaged(_)
        | Failure::Protocol(_)
        | Failure::Status { .. } => Executed::Unknown,
    }
}

#[cfg(test)]
mod tests;
