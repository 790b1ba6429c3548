//! The processes of servers, recognized by the mark in their environment, and their memory.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::real_servers::MARK;

/// The marked processes of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkedProcesses {
    /// The servers: marked processes that no other marked process has started.
    pub(super) servers: usize,
    /// The memory of the servers and of the processes they have started, in bytes; a page that several share counts in part (PSS).
    pub(super) memory: f64,
}

impl MarkedProcesses {
    /// Finds the processes of a run by its mark.
    pub(super) fn of_run(mark: &str) -> io::Result<Self> {
        let wanted = format!("{MARK}={mark}:");
        let mut marked = HashSet::new();
        for entry in std::fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let environment = std::fs::read(process_file(pid, "environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|word| word.starts_with(wanted.as_bytes())) {
                marked.insert(pid);
            }
        }
        let is_server = |pid: &&u32| parent_of(**pid).is_some_and(|parent| !marked.contains(&parent));
        Ok(Self {
            servers: marked.iter().filter(is_server).count(),
            memory: marked.iter().filter_map(|pid| proportional_memory(*pid)).sum(),
        })
    }
}

/// The memory of a process in bytes, where a page that several processes share counts in part.
pub(super) fn proportional_memory(pid: u32) -> Option<f64> {
    let text = std::fs::read_to_string(process_file(pid, "smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// The processor time of the threads of a process so far, to the nanosecond.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadTimes(HashMap<OsString, f64>);

impl ThreadTimes {
    /// The times of the threads that run now; none once the process has exited.
    pub(super) fn of_process(pid: u32) -> Self {
        let threads = std::fs::read_dir(process_file(pid, "task")).into_iter().flatten().flatten();
        let times = threads.filter_map(|thread| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((thread.file_name(), text.split_whitespace().next()?.parse().ok()?))
        });
        Self(times.collect())
    }

    /// The seconds since an earlier look. A thread that has ended meanwhile does not count.
    pub(super) fn seconds_since(&self, earlier: &Self) -> f64 {
        let since =
            |(thread, time): (&OsString, &f64)| time - earlier.0.get(thread).copied().unwrap_or_default();
        self.0.iter().map(since).sum::<f64>() / 1e9
    }
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(process_file(pid, "stat")).ok()?;
    // The name may contain any character; the state and the parent come after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn process_file(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}
