//! The processor time of processes, from `/proc`.

use std::io;

/// The ticks of a second in `/proc`, on every Linux.
const TICKS: f64 = 100.0;

/// The processor time of a running process so far, in seconds: of all its threads, in nanoseconds where the kernel
/// counts them, else in ticks.
pub(crate) fn process_seconds(pid: u32) -> io::Result<f64> {
    match thread_nanoseconds(pid) {
        Some(nanoseconds) => Ok(nanoseconds / 1e9),
        None => stat_seconds(&pid.to_string(), &[OWN_USER, OWN_SYSTEM]),
    }
}

/// The processor time of all processes that this one has started and that have ended, with theirs, in seconds.
pub(crate) fn ended_children_seconds() -> io::Result<f64> {
    stat_seconds("self", &[ENDED_USER, ENDED_SYSTEM])
}

/// The places of the fields in `stat`, counted from the state.
const OWN_USER: usize = 11;
const OWN_SYSTEM: usize = 12;
const ENDED_USER: usize = 13;
const ENDED_SYSTEM: usize = 14;

fn stat_seconds(process: &str, places: &[usize]) -> io::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may contain any character; the state comes after it.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks = places.iter().map(|place| fields.get(*place).and_then(|field| field.parse::<f64>().ok()));
    let ticks: Option<f64> = ticks.sum();
    ticks.map(|ticks| ticks / TICKS).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The sum over the threads that run; a runtime keeps its threads, so none is lost.
fn thread_nanoseconds(pid: u32) -> Option<f64> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let nanoseconds = threads.filter_map(Result::ok).map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum()
}
