//! Zombie reaping for guardhouses and detached programs.
//!
//! Nearly all guardhouses are reaped the moment they end. A guardhouse with guardians that are still killing
//! when the drop of its handle times out, and a browser that is still open, is remembered here and reaped on
//! the next occasion; a thread for it would be a thread without an owner.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};
use std::sync::{Mutex, PoisonError};

static LATE: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Reaps a guardhouse that has closed its desk and is therefore ending.
pub(super) fn reap_guardhouse(house: Pid) {
    // An error means that the host ignores `SIGCHLD`; then there is no zombie.
    while let Err(Errno::INTR) = rustix::process::waitpid(Some(house), WaitOptions::empty()) {}
    reap_late();
}

/// Remembers a guardhouse or a detached program that has not ended yet.
pub(super) fn remember_process(process: Pid) {
    let mut late = LATE.lock().unwrap_or_else(PoisonError::into_inner);
    late.push(process);
}

/// Reaps the remembered processes that have ended meanwhile.
pub(super) fn reap_late() {
    let mut late = LATE.lock().unwrap_or_else(PoisonError::into_inner);
    late.retain(|&process| {
        let waited = rustix::process::waitpid(Some(process), WaitOptions::NOHANG);
        matches!(waited, Ok(None) | Err(Errno::INTR))
    });
}
