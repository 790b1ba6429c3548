//! A histogram of times in fixed memory: sixteen buckets per doubling, so within 7 %.

use std::time::Duration;

const STEPS: u32 = 16;
/// The range: from a microsecond to more than a day.
const DOUBLINGS: u32 = 40;
const BUCKETS: usize = (STEPS * DOUBLINGS) as usize;

/// A histogram of times.
#[derive(Clone, Debug)]
pub(crate) struct TimeHistogram {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
    most: Duration,
}

impl Default for TimeHistogram {
    fn default() -> Self {
        Self { counts: Box::new([0; BUCKETS]), count: 0, most: Duration::ZERO }
    }
}

impl TimeHistogram {
    pub(crate) fn add_time(&mut self, time: Duration) {
        self.count += 1;
        self.most = self.most.max(time);
        let bucket = bucket_index(time);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The longest time.
    pub(crate) fn max_time(&self) -> Duration {
        self.most
    }

    /// The percentile: the time that this share of all calls took at most.
    pub(crate) fn percentile(&self, share: f64) -> Duration {
        // Counts are far below the precision limit of a float.
        let wanted = (self.count as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && *count > 0 {
                return bucket_end(bucket).min(self.most);
            }
        }
        self.most
    }
}

fn bucket_index(time: Duration) -> usize {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
    let place = (micros as f64).log2() * f64::from(STEPS);
    (place as usize).min(BUCKETS - 1)
}

/// The longest time that a bucket counts.
fn bucket_end(bucket: usize) -> Duration {
    Duration::from_secs_f64(2_f64.powf((bucket as f64 + 1.0) / f64::from(STEPS)) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_found_within_a_step_and_the_longest_exactly() {
        let mut times = TimeHistogram::default();
        (1..=1000).for_each(|ms| times.add_time(Duration::from_millis(ms)));
        for (share, exact) in [(0.5, 0.5), (0.99, 0.99), (1.0, 1.0)] {
            let found = times.percentile(share).as_secs_f64();
            assert!((exact..exact * 1.07).contains(&found), "{share}: {found}");
        }
        assert_eq!((times.count(), times.max_time()), (1000, Duration::from_secs(1)));
        assert_eq!(TimeHistogram::default().percentile(0.5), Duration::ZERO);
    }
}
