//! The newest finished calls of a host, for a log that people read.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use mcparley_model::limits::FINISHED_CALLS;
use mcparley_model::name::{ServerName, ToolName};

use super::Host;

/// A call that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinishedCall {
    /// The number of the call; numbers grow in the order in which calls begin.
    pub number: u64,
    /// The server.
    pub server: ServerName,
    /// The tool, by the server's own name for it.
    pub tool: ToolName,
    /// The time at which the call was sent.
    pub began: SystemTime,
    /// The time until its end.
    pub duration: Duration,
    /// The way in which it ended.
    pub ending: CallEnding,
}

/// The way in which a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnding {
    /// With a result.
    Succeeded,
    /// With a result that the tool declares an error.
    ToolError,
    /// Without a result, for this reason.
    Failed(Box<str>),
    /// Before its result came: the caller gave up.
    Canceled,
}

impl CallEnding {
    /// Whether the call did not end with a good result.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        *self != Self::Succeeded
    }
}

/// Ring buffer of finished calls.
#[derive(Debug, Default)]
pub(super) struct FinishedCalls(VecDeque<FinishedCall>);

impl FinishedCalls {
    /// Adds a call; the oldest one makes room.
    pub(super) fn push_call(&mut self, call: FinishedCall) {
        if self.0.len() == FINISHED_CALLS {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }
}

impl Host {
    /// The newest calls that have ended, of this host and of its agents, in the order of their ends; empty
    /// unless calls are counted.
    #[must_use]
    pub fn finished_calls(&self) -> Vec<FinishedCall> {
        self.call_statistics().lock_table().finished.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U6
    #[test]
    fn oldest_call_makes_room_for_the_newest() {
        let mut calls = FinishedCalls::default();
        for number in 0..=FINISHED_CALLS as u64 {
            calls.push_call(FinishedCall {
                number,
                server: ServerName::new("git"),
                tool: ToolName::new("log"),
                began: SystemTime::UNIX_EPOCH,
                duration: Duration::ZERO,
                ending: CallEnding::Succeeded,
            });
        }
        let numbers: Vec<u64> = calls.0.iter().map(|call| call.number).collect();
        assert_eq!((numbers.len(), numbers.first()), (FINISHED_CALLS, Some(&1)));
    }
}
