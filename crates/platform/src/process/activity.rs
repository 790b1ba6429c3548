//! Samples whether a process tree is busy or idle, from `/proc`.
//!
//! Two samples of the same tree show the activity in between. A sample costs some tens of microseconds for a
//! small tree.

use std::fs;
use std::path::Path;

/// Limit on the processes sampled per tree; a larger tree counts as busy.
const PROCESSES: usize = 64;

/// More than any of the files has: numbers in one line, of [`PROCESSES`] children at most.
const STAT_BYTES: u64 = 16 * 1024;

/// One sample of a process and its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Processor time of all threads, in mixed units: only good for detecting that some was spent.
    pub cpu_time: u64,
    /// Whether a process runs, is ready to run, or waits for a disk.
    pub is_runnable: bool,
    /// Number of processes in the tree.
    pub processes: usize,
}

impl Activity {
    /// Samples the process and its descendants; `None` if the process is gone.
    #[must_use]
    pub fn of_tree(pid: u32) -> Option<Self> {
        let mut seen = Self { cpu_time: 0, is_runnable: false, processes: 0 };
        let mut left = vec![pid];
        while let Some(pid) = left.pop() {
            if seen.processes == PROCESSES {
                return Some(Self { is_runnable: true, ..seen });
            }
            if let Some(children) = seen.add_process(pid) {
                left.extend(children);
            }
        }
        (seen.processes > 0).then_some(seen)
    }

    /// Whether the tree has been idle since an `earlier` sample, and is not about to run.
    #[must_use]
    pub fn is_idle_since(&self, earlier: &Self) -> bool {
        !self.is_runnable && !earlier.is_runnable && self == earlier
    }

    /// Adds the activity of one process; returns its children.
    fn add_process(&mut self, pid: u32) -> Option<Vec<u32>> {
        let stat = read_proc_file(Path::new(&format!("/proc/{pid}/stat")))?;
        let (state, ticks) = state_and_ticks(&stat)?;
        if matches!(state, "Z" | "X") {
            return None;
        }
        self.processes += 1;
        self.is_runnable |= matches!(state, "R" | "D");
        self.cpu_time = self.cpu_time.wrapping_add(ticks);
        let mut children = Vec::new();
        for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.filter_map(Result::ok) {
            let number = |text: &str| text.parse::<u64>().ok();
            // Nanoseconds, while the ticks above are ten milliseconds each.
            let times = read_proc_file(&thread.path().join("schedstat")).unwrap_or_default();
            let nanoseconds = times.split(' ').next().and_then(number).unwrap_or(0);
            self.cpu_time = self.cpu_time.wrapping_add(nanoseconds);
            children.extend(children_of_thread(&thread.path()));
        }
        Some(children)
    }
}

/// The command lines of a process and its descendants, each as its words, the process itself first. A command
/// line that cannot be read is left out.
#[must_use]
pub fn command_lines_of_tree(pid: u32) -> Vec<Vec<String>> {
    let (mut lines, mut left) = (Vec::new(), std::collections::VecDeque::from([pid]));
    while let Some(pid) = left.pop_front().filter(|_| lines.len() < PROCESSES) {
        let line =
            crate::file::read_bytes(Path::new(&format!("/proc/{pid}/cmdline")), STAT_BYTES).ok().flatten();
        let words = line.unwrap_or_default();
        let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        lines.push(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect());
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
        left.extend(threads.flat_map(|thread| children_of_thread(&thread.path())));
    }
    lines
}

fn children_of_thread(thread: &Path) -> Vec<u32> {
    let children = read_proc_file(&thread.join("children")).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn read_proc_file(path: &Path) -> Option<String> {
    crate::file::read_text(path, STAT_BYTES).ok().flatten().map(|read| read.text)
}

/// Parses the state of a process, and the processor time of all its threads in ticks. The process name, in
/// parentheses before them, may contain blanks and parentheses.
fn state_and_ticks(stat: &str) -> Option<(&str, u64)> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let mut times = fields.skip(10).map(|field| field.parse::<u64>());
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((state, user.wrapping_add(system)))
}

#[cfg(test)]
mod tests {
    //! Samples real processes that wait and work.
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn state_and_ticks_are_parsed_after_an_odd_process_name() {
        let stat = "7 (a) R 1) S 1 7 7 0 -1 4194560 7789 72191 0 3 20 5 56 25 20 0 1 0 74354";
        assert_eq!(state_and_ticks(stat), Some(("S", 25)));
        assert_eq!(state_and_ticks("7 (a"), None);
    }

    /// Samples the tree until it satisfies the condition.
    fn until(pid: u32, wanted: impl Fn(&Activity, &Activity) -> bool) -> bool {
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < Duration::from_secs(20) {
            let now = Activity::of_tree(pid);
            if let (Some(last), Some(now)) = (&last, &now)
                && wanted(now, last)
            {
                return true;
            }
            last = now;
            std::thread::yield_now();
        }
        false
    }

    // L2
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test itself ends the processes it starts")]
    fn waiting_tree_is_idle_and_working_tree_is_not() {
        let mut waits = Command::new("sh").args(["-c", "sleep 60; true"]).spawn().unwrap();
        let mut works = Command::new("sh");
        works.args(["-c", "(while :; do :; done); true"]);
        let mut works = works.stdout(Stdio::null()).spawn().unwrap();
        assert!(until(waits.id(), |now, last| now.processes == 2 && now.is_idle_since(last)));
        assert!(until(works.id(), |now, last| now.processes == 2 && now.cpu_time != last.cpu_time));
        let lines = command_lines_of_tree(waits.id());
        assert_eq!(lines, [vec!["sh", "-c", "sleep 60; true"], vec!["sleep", "60"]]);
        for child in [&mut waits, &mut works] {
            kill_tree(child.id());
            child.wait().unwrap();
        }
        assert_eq!(Activity::of_tree(waits.id()), None);
    }

    #[expect(clippy::disallowed_methods, reason = "the test itself ends the processes it starts")]
    fn kill_tree(pid: u32) {
        let children =
            read_proc_file(Path::new(&format!("/proc/{pid}/task/{pid}/children"))).unwrap_or_default();
        for child in children.split_whitespace().chain([pid.to_string().as_str()]) {
            Command::new("kill").args(["-9", child]).status().unwrap();
        }
    }
}
