//! Rate limit for what servers may do: a burst at once, and then only as often as tokens come back with time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A token bucket: every action takes a token, and the bucket fills up again with time.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    most: u32,
    /// How long it takes to fill up when it is empty.
    every: Duration,
    store: Mutex<Store>,
}

#[derive(Debug)]
struct Store {
    left: f64,
    since: Option<Instant>,
}

impl TokenBucket {
    /// Lets `most` actions happen within `every`, all of them at once if need be.
    pub(crate) fn new(most: u32, every: Duration) -> Self {
        Self { most, every, store: Mutex::new(Store { left: f64::from(most), since: None }) }
    }

    /// Takes a token; tells whether there was one.
    pub(crate) fn take(&self) -> bool {
        let now = Instant::now();
        // Every change is one step, so a panic leaves nothing half done.
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = store.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let most = f64::from(self.most);
        store.left = (store.left + most * passed.as_secs_f64() / self.every.as_secs_f64()).min(most);
        store.since = Some(now);
        let is_left = store.left >= 1.0;
        if is_left {
            store.left -= 1.0;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B114
    #[tokio::test(start_paused = true)]
    async fn as_many_as_are_in_the_store_and_then_as_many_as_come_back() {
        let rate_limit = TokenBucket::new(3, Duration::from_secs(30));
        let taken = || (0..9).filter(|_| rate_limit.take()).count();
        assert_eq!(taken(), 3);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(taken(), 1);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(taken(), 3, "it does not overflow");
    }
}
