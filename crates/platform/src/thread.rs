//! Tells whether the system gives another thread, before somebody asks for one who cannot bear a refusal.
//!
//! The thread pool of an async runtime panics when it has no thread and gets none. Work that would go there is done in
//! place then: slower for the others, but done.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// For how long a thread that was given counts. A pool keeps its threads for ten seconds after their last work.
const TRUSTED: Duration = Duration::from_secs(5);

/// How often the end of a trial is looked for at most. One look is nearly always enough.
const LOOKS: usize = 1000;

/// Enough for a thread that does nothing.
const STACK: usize = 64 * 1024;

/// When a thread was given last.
static GIVEN: Mutex<Option<Instant>> = Mutex::new(None);

/// Whether a thread can be started: by trial, unless the last one was a few seconds ago.
#[must_use]
pub fn is_available() -> bool {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_recent = given.is_some_and(|at| at.elapsed() < TRUSTED);
    if !is_recent && !try_one() {
        *given = None;
        return false;
    }
    *given = Some(Instant::now());
    true
}

fn try_one() -> bool {
    let trial = Builder::new().name("trial".to_owned()).stack_size(STACK).spawn(rustix::thread::gettid);
    let Ok(trial) = trial else { return false };
    let Ok(id) = trial.join() else { return false };
    // It counts until the system has cleared it away, which is a moment after its end.
    let entry = format!("/proc/self/task/{}", id.as_raw_pid());
    for _ in 0..LOOKS {
        if !std::path::Path::new(&entry).exists() {
            break;
        }
        std::thread::yield_now();
    }
    true
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_with_room_gives_a_thread() {
        assert!(super::is_available());
        assert!(super::is_available());
    }
}
