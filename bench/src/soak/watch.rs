//! Samples the memory of this process at a fixed interval while it is under load.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::processes;
use crate::rounds::median;

const USUAL: Duration = Duration::from_secs(1);
/// The minimum number of samples of a short run.
const LOOKS: u32 = 100;
/// The number of points in the report: enough to see where memory grew.
const COURSE: usize = 50;

/// The memory samples.
#[derive(Clone, Debug)]
pub(crate) struct MemorySamples {
    every: Duration,
    /// The samples in bytes.
    memory: Vec<f64>,
}

/// A value after the warm-up and at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryDrift {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl MemoryDrift {
    /// The growth in percent.
    pub(crate) fn growth(self) -> f64 {
        (self.last / self.first - 1.0) * 100.0
    }
}

/// Samples until told to stop.
pub(crate) fn sample_memory(lasts: Duration, stop: &Receiver<()>) -> io::Result<MemorySamples> {
    let every = USUAL.min(lasts / LOOKS);
    // Allocated up front, so that sampling itself allocates nothing during the run.
    let room = (lasts.as_secs_f64() / every.as_secs_f64()) as usize + 64;
    let mut watched = MemorySamples { every, memory: Vec::with_capacity(room) };
    let mut next = Instant::now() + every;
    loop {
        match stop.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => next += every,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(watched),
        }
        let held =
            processes::memory_size("self", "VmRSS").ok_or_else(|| io::Error::other("there is no `/proc`"))?;
        // A number of bytes is far below the precision limit of a float.
        watched.memory.push(held as f64);
    }
}

impl MemorySamples {
    /// The memory after the warm-up and at the end, each the median of a tenth of the run.
    pub(crate) fn memory_drift(&self, warm_up: Duration) -> MemoryDrift {
        let begin = (warm_up.as_secs_f64() / self.every.as_secs_f64()) as usize;
        let tenth = (self.memory.len() / 10).max(1);
        let first = self.memory.iter().skip(begin).take(tenth).copied().collect();
        let last = self.memory.iter().rev().take(tenth).copied().collect();
        MemoryDrift { first: median(first), last: median(last) }
    }

    /// The memory over time, as some numbers of bytes at even intervals over the whole run.
    pub(crate) fn memory_course(&self) -> Vec<f64> {
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
        let watched = MemorySamples { every: USUAL, memory };
        let growth = watched.memory_drift(Duration::from_secs(20)).growth();
        assert!((growth - 4.0).abs() < 1e-9, "{growth}");
    }
}
