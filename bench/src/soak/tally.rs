//! Counts what became of the calls, in a memory that does not grow.

use std::time::{Duration, Instant};

use super::ending::Ending;
use super::histogram::Histogram;
use super::shooter::Wounds;

/// How much later than its limit a call may end: the machine is busy.
pub(crate) const GRACE: Duration = Duration::from_millis(200);

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) server: usize,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    pub(crate) limit: Duration,
    pub(crate) ending: Ending,
    /// What was wrong, where something was.
    pub(crate) said: Option<String>,
}

/// What became of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    counts: [u64; Ending::ALL.len()],
    /// The last thing that was said at each ending.
    said: [Option<String>; Ending::ALL.len()],
    /// Those not begun because too many were under way.
    pub(crate) held_back: u64,
    /// Those that ended after their limit.
    pub(crate) late: u64,
    /// How far beyond its limit the latest was.
    pub(crate) latest: Duration,
    /// Of calls that succeeded.
    pub(crate) answered: Histogram,
    /// Of those that did not.
    pub(crate) failed: Histogram,
    /// How late calls began: the machine was busy, or somebody held up the threads that all tasks share.
    pub(crate) late_begun: Histogram,
    /// From a kill to the next success, of local servers and of those behind a URL.
    pub(crate) recovered: [Histogram; 2],
}

impl Tally {
    pub(crate) fn add(&mut self, done: Done, wounds: &Wounds, locals: usize) {
        let Done { server, began, took, limit, ending, said } = done;
        self.count(ending, said);
        if took > limit + GRACE {
            self.late += 1;
            self.latest = self.latest.max(took.saturating_sub(limit));
        }
        if !ending.is_success() {
            return self.failed.add(took);
        }
        self.answered.add(took);
        let [local, remote] = &mut self.recovered;
        if let Some(since) = wounds.heal(server, began) {
            if server < locals { local } else { remote }.add(since);
        }
    }

    pub(crate) fn count(&mut self, ending: Ending, said: Option<String>) {
        let place = place(ending);
        if let (Some(count), Some(last)) = (self.counts.get_mut(place), self.said.get_mut(place)) {
            *count += 1;
            *last = said.or(last.take());
        }
    }

    pub(crate) fn of(&self, ending: Ending) -> u64 {
        self.counts.get(place(ending)).copied().unwrap_or(0)
    }

    pub(crate) fn said(&self, ending: Ending) -> Option<&str> {
        self.said.get(place(ending))?.as_deref()
    }

    pub(crate) fn all(&self) -> u64 {
        self.counts.iter().sum()
    }
}

fn place(ending: Ending) -> usize {
    Ending::ALL.iter().position(|one| *one == ending).unwrap_or(0)
}
