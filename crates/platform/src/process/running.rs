//! Checks whether a process that another program started is alive.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether there is a process with this id, of any user.
#[must_use]
pub fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH)))
}
