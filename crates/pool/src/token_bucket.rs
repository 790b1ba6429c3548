//! Token-bucket rate limiter for messages and requests of servers: allows a burst, then refills over time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Token-bucket rate limiter: every action takes a token, and the bucket refills over time.
#[derive(Debug)]
pub struct TokenBucket {
    most: u32,
    /// The time to refill an empty bucket.
    every: Duration,
    store: Mutex<BucketState>,
}

/// The tokens left, at the time of the last update.
#[derive(Debug)]
struct BucketState {
    left: f64,
    since: Option<Instant>,
}

impl TokenBucket {
    /// A limiter for `most` actions within `every`, possibly in one burst.
    pub fn new(most: u32, every: Duration) -> Self {
        Self { most, every, store: Mutex::new(BucketState { left: f64::from(most), since: None }) }
    }

    /// Takes a token; returns false if the bucket is empty.
    pub fn try_take(&self) -> bool {
        let now = Instant::now();
        // Every change is a single step, so a panic leaves the state consistent.
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
    async fn rate_limiter_allows_a_burst_and_refills_over_time() {
        let rate_limit = TokenBucket::new(3, Duration::from_secs(30));
        let taken = || (0..9).filter(|_| rate_limit.try_take()).count();
        assert_eq!(taken(), 3);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(taken(), 1);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(taken(), 3, "it does not overflow");
    }
}
