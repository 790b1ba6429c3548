//! Whether a process that others started is still there.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether there is a process of this number; also one that belongs to somebody else.
#[must_use]
pub fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH)))
}
