//! Counts the child processes: servers, their guardians, and leftovers.

use std::io;
use std::time::{Duration, Instant};

use crate::processes::{self, ChildProcess};

/// The time that the system may take to remove ended processes.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// The number of processes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessCensus {
    /// Servers that the library started.
    pub(crate) locals: usize,
    /// Guardians of those servers, one each.
    pub(crate) guardians: usize,
    /// The parent of the guardians: one, as long as there are guardians.
    pub(crate) houses: usize,
    /// Servers behind a URL.
    pub(crate) remotes: usize,
    /// Zombies: processes that have exited and were not reaped.
    pub(crate) zombies: usize,
}

impl ProcessCensus {
    pub(crate) fn count_processes() -> io::Result<Self> {
        // A process id always fits.
        let us = std::process::id() as i32;
        let mut census = Self::default();
        for process in processes::list_descendants()? {
            let counted = match process.is_zombie {
                true => &mut census.zombies,
                false if process.option_value("--port").is_some() => &mut census.remotes,
                false if process.option_value("--name").is_some() => &mut census.locals,
                false if process.parent == us => &mut census.houses,
                false => &mut census.guardians,
            };
            *counted += 1;
        }
        Ok(census)
    }

    /// Counts repeatedly until the result is as expected, for a few seconds at most.
    pub(crate) fn wait_for(expected: Self) -> io::Result<Self> {
        let begun = Instant::now();
        loop {
            let census = Self::count_processes()?;
            if census == expected || begun.elapsed() > PATIENCE {
                return Ok(census);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The process id of a local server, if it is running.
pub(crate) fn local_pid(name: &str) -> io::Result<Option<i32>> {
    let is_it = |process: &ChildProcess| !process.is_zombie && process.option_value("--name") == Some(name);
    Ok(processes::list_descendants()?.iter().find(|process| is_it(process)).map(|process| process.pid))
}
