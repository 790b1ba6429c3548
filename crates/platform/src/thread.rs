//! Runs blocking work on a thread pool, and checks first whether the system can still start a thread.
//!
//! The thread pool of an async runtime panics when it has no thread and gets none. Work that would go there
//! is then run in place: it delays other tasks, but it is done.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long a successful trial counts. A pool keeps its idle threads for ten seconds.
const TRUSTED: Duration = Duration::from_secs(5);

/// Limit on polling for the end of a trial thread. One poll is nearly always enough.
const LOOKS: usize = 1000;

/// Stack size that is enough for a thread without work.
const STACK: usize = 64 * 1024;

/// Time of the last successful trial.
static GIVEN: Mutex<Option<Instant>> = Mutex::new(None);

/// Runs blocking work on a thread of the runtime's pool, or in place when the system has no thread left.
///
/// Work that has started is finished even if its caller is dropped. Returns `None` if the work panicked.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if is_available() { tokio::task::spawn_blocking(work).await.ok() } else { Some(work()) }
}

/// Whether a thread can be started: found by trial, unless the last success was a few seconds ago.
#[must_use]
pub fn is_available() -> bool {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_recent = given.is_some_and(|at| at.elapsed() < TRUSTED);
    if !is_recent && !try_start_thread() {
        *given = None;
        return false;
    }
    *given = Some(Instant::now());
    true
}

fn try_start_thread() -> bool {
    let trial = Builder::new().name("trial".to_owned()).stack_size(STACK).spawn(rustix::thread::gettid);
    let Ok(trial) = trial else { return false };
    let Ok(id) = trial.join() else { return false };
    // The ended thread counts against the limit until the kernel has removed its entry, a moment later.
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
    fn thread_is_available_on_a_machine_with_capacity() {
        assert!(super::is_available());
        assert!(super::is_available());
    }
}
