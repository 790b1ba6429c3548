//! Locks a mutex even if it is poisoned: a faulty server must keep running after a thread panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
