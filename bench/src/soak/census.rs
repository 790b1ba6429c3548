//! Which processes there are: servers, their guardians, and what should not be.

use std::io;
use std::time::{Duration, Instant};

use crate::processes::{self, Process};

/// How long the system may take until what was ended is gone.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Servers that the library started.
    pub(crate) locals: usize,
    /// Who watches over them, one each.
    pub(crate) guardians: usize,
    /// Where those come from: one, as long as there is any of them.
    pub(crate) houses: usize,
    /// Servers behind a URL.
    pub(crate) remotes: usize,
    /// Those that have ended and were not waited for.
    pub(crate) zombies: usize,
}

impl Census {
    pub(crate) fn take() -> io::Result<Self> {
        // Process ids fit.
        let us = std::process::id() as i32;
        let mut census = Self::default();
        for process in processes::descendants()? {
            let counted = match process.is_zombie {
                true => &mut census.zombies,
                false if process.option("--port").is_some() => &mut census.remotes,
                false if process.option("--name").is_some() => &mut census.locals,
                false if process.parent == us => &mut census.houses,
                false => &mut census.guardians,
            };
            *counted += 1;
        }
        Ok(census)
    }

    /// Takes it until it is as it should be, for some seconds at most.
    pub(crate) fn until(expected: Self) -> io::Result<Self> {
        let begun = Instant::now();
        loop {
            let census = Self::take()?;
            if census == expected || begun.elapsed() > PATIENCE {
                return Ok(census);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The process of a local server, if it runs now.
pub(crate) fn local(name: &str) -> io::Result<Option<i32>> {
    let is_it = |process: &Process| !process.is_zombie && process.option("--name") == Some(name);
    Ok(processes::descendants()?.iter().find(|process| is_it(process)).map(|process| process.pid))
}
