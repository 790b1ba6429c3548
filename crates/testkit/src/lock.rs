//! Mutexes whose data stay usable when a thread died: a server that lies has to go on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The data, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
