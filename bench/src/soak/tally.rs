//! Counts the outcomes of the calls, in fixed memory.

use std::time::{Duration, Instant};

use super::ending::CallEnding;
use super::histogram::TimeHistogram;
use super::shooter::DownTimes;

/// The delay after its timeout within which a call may end on a busy machine.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// A finished call.
#[derive(Debug)]
pub(crate) struct FinishedCall {
    pub(crate) server: usize,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    pub(crate) limit: Duration,
    pub(crate) ending: CallEnding,
    /// The error text, if the call failed.
    pub(crate) said: Option<String>,
}

/// The counts of all calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallTally {
    counts: [u64; CallEnding::ALL.len()],
    /// The last error text of each outcome.
    said: [Option<String>; CallEnding::ALL.len()],
    /// Calls not started because too many were running.
    pub(crate) held_back: u64,
    /// Calls that ended after their timeout.
    pub(crate) late: u64,
    /// The longest delay beyond a timeout.
    pub(crate) latest: Duration,
    /// The times of successful calls.
    pub(crate) answered: TimeHistogram,
    /// The times of failed calls.
    pub(crate) failed: TimeHistogram,
    /// The delays of starts: the machine was busy, or a task blocked the shared threads.
    pub(crate) late_begun: TimeHistogram,
    /// The times from a kill to the next success, of local servers and of those behind a URL.
    pub(crate) recovered: [TimeHistogram; 2],
}

impl CallTally {
    pub(crate) fn add_call(&mut self, done: FinishedCall, wounds: &DownTimes, locals: usize) {
        let FinishedCall { server, began, took, limit, ending, said } = done;
        self.count_ending(ending, said);
        if took > limit + GRACE {
            self.late += 1;
            self.latest = self.latest.max(took.saturating_sub(limit));
        }
        if !ending.is_success() {
            return self.failed.add_time(took);
        }
        self.answered.add_time(took);
        let [local, remote] = &mut self.recovered;
        if let Some(since) = wounds.record_recovery(server, began) {
            if server < locals { local } else { remote }.add_time(since);
        }
    }

    pub(crate) fn count_ending(&mut self, ending: CallEnding, said: Option<String>) {
        let place = ending_index(ending);
        if let (Some(count), Some(last)) = (self.counts.get_mut(place), self.said.get_mut(place)) {
            *count += 1;
            *last = said.or(last.take());
        }
    }

    pub(crate) fn ending_count(&self, ending: CallEnding) -> u64 {
        self.counts.get(ending_index(ending)).copied().unwrap_or(0)
    }

    pub(crate) fn last_error(&self, ending: CallEnding) -> Option<&str> {
        self.said.get(ending_index(ending))?.as_deref()
    }

    pub(crate) fn total_count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

fn ending_index(ending: CallEnding) -> usize {
    CallEnding::ALL.iter().position(|one| *one == ending).unwrap_or(0)
}
