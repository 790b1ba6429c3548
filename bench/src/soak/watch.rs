//! Measures the memory of this process at even distances while it is loaded.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::processes;
use crate::rounds::median;

const USUAL: Duration = Duration::from_secs(1);
/// A short run is looked at this often too.
const LOOKS: u32 = 100;
/// Enough to see where something grew.
const COURSE: usize = 50;

/// What was seen.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    every: Duration,
    /// In bytes.
    memory: Vec<f64>,
}

/// How something was after the warm-up and at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl Drift {
    /// By how many percent it has grown.
    pub(crate) fn growth(self) -> f64 {
        (self.last / self.first - 1.0) * 100.0
    }
}

/// Watches until it is told to stop.
pub(crate) fn watch(lasts: Duration, stop: &Receiver<()>) -> io::Result<Watched> {
    let every = USUAL.min(lasts / LOOKS);
    // As much as will be needed, so that the watching itself takes nothing more while it goes on.
    let room = (lasts.as_secs_f64() / every.as_secs_f64()) as usize + 64;
    let mut watched = Watched { every, memory: Vec::with_capacity(room) };
    let mut next = Instant::now() + every;
    loop {
        match stop.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => next += every,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(watched),
        }
        let held =
            processes::memory("self", "VmRSS").ok_or_else(|| io::Error::other("there is no `/proc`"))?;
        // Far below what a float can tell apart.
        watched.memory.push(held as f64);
    }
}

impl Watched {
    /// The memory after the warm-up and at the end, as the median of a tenth of the run each.
    pub(crate) fn memory(&self, warm_up: Duration) -> Drift {
        let begin = (warm_up.as_secs_f64() / self.every.as_secs_f64()) as usize;
        let tenth = (self.memory.len() / 10).max(1);
        let first = self.memory.iter().skip(begin).take(tenth).copied().collect();
        let last = self.memory.iter().rev().take(tenth).copied().collect();
        Drift { first: median(first), last: median(last) }
    }

    /// How the memory went, as some numbers of bytes at even distances over the whole run.
    pub(crate) fn course(&self) -> Vec<f64> {
        self.memory.iter().step_by((self.memory.len() / COURSE).max(1)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_from_the_tenth_after_the_warm_up_to_the_last_and_no_peak_between_counts() {
        let mut memory: Vec<f64> = vec![1.0; 20];
        memory.extend(vec![100.0; 10]);
        memory.extend(vec![900.0; 60]);
        memory.extend(vec![104.0; 10]);
        let watched = Watched { every: USUAL, memory };
        let growth = watched.memory(Duration::from_secs(20)).growth();
        assert!((growth - 4.0).abs() < 1e-9, "{growth}");
    }
}
