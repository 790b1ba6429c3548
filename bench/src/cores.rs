//! Pins a measurement and its servers to processor cores.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The number of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    /// One core for all processes.
    One,
    /// All available cores.
    All,
}

/// Pins this program and its children to the chosen cores until dropped.
pub(crate) struct CorePin(CpuSet);

impl Cores {
    /// Pins this program to these cores.
    pub(crate) fn pin_to_cores(self) -> io::Result<CorePin> {
        let all = sched_getaffinity(None)?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|core| all.is_set(*core));
        if let (Self::One, Some(core)) = (self, last) {
            let mut one = CpuSet::new();
            one.set(core);
            sched_setaffinity(None, &one)?;
        }
        Ok(CorePin(all))
    }
}

impl Drop for CorePin {
    fn drop(&mut self) {
        // Restores the previous affinity; if that fails, the next figure runs on one core.
        let _restored = sched_setaffinity(None, &self.0);
    }
}
