//! Which processor cores a measurement and the servers it starts run on.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    /// One for everybody.
    One,
    /// All there are.
    All,
}

/// While it is held, this program and all it starts keep to the chosen cores.
pub(crate) struct Kept(CpuSet);

impl Cores {
    /// Keeps to these cores.
    pub(crate) fn keep(self) -> io::Result<Kept> {
        let all = sched_getaffinity(None)?;
        let last = (0..CpuSet::MAX_CPU).rev().find(|core| all.is_set(*core));
        if let (Self::One, Some(core)) = (self, last) {
            let mut one = CpuSet::new();
            one.set(core);
            sched_setaffinity(None, &one)?;
        }
        Ok(Kept(all))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // What was allowed before is allowed again; if not, the next figure runs on one core.
        let _restored = sched_setaffinity(None, &self.0);
    }
}
