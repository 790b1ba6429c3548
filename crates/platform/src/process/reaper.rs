//! Waits for guardhouses and detached programs, so that none stays behind as a zombie.
//!
//! Nearly all guardhouses are waited for the moment they end. One whose guardians are still killing when its
//! handle's patience is over, and a browser that is still open, is remembered here and waited for on the next
//! occasion; a thread for it would be a thread nobody owns.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};
use std::sync::{Mutex, PoisonError};

static LATE: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Waits for a guardhouse that has closed its desk and is therefore ending.
pub(super) fn reap(house: Pid) {
    // An error means that the host lets the system wait for its children; then there is no zombie.
    while let Err(Errno::INTR) = rustix::process::waitpid(Some(house), WaitOptions::empty()) {}
    reap_late();
}

/// Remembers a guardhouse or a detached program that has not ended yet.
pub(super) fn remember(process: Pid) {
    let mut late = LATE.lock().unwrap_or_else(PoisonError::into_inner);
    late.push(process);
}

/// Waits for those remembered that have ended meanwhile.
pub(super) fn reap_late() {
    let mut late = LATE.lock().unwrap_or_else(PoisonError::into_inner);
    late.retain(|&process| {
        let waited = rustix::process::waitpid(Some(process), WaitOptions::NOHANG);
        matches!(waited, Ok(None) | Err(Errno::INTR))
    });
}
