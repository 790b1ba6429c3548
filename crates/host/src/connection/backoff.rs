//! How long to wait before a lost server is tried again (L6). Pure.

use std::time::Duration;

use mcparley_model::limits::{RECONNECT_ATTEMPTS, RECONNECT_FIRST, RECONNECT_LONGEST};

/// The pause before attempt `attempt` (from 1), or nothing when it is time to give up.
///
/// `jitter` is any number: full jitter spreads the servers that died together over the whole pause, so that
/// they do not all come back at the same moment.
pub(super) fn pause(attempt: u32, jitter: u64) -> Option<Duration> {
    if attempt == 0 || attempt > RECONNECT_ATTEMPTS {
        return None;
    }
    let longest = RECONNECT_FIRST.saturating_mul(1 << (attempt - 1).min(16)).min(RECONNECT_LONGEST);
    let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
    Some(Duration::from_millis(jitter % (millis + 1)))
}

#[cfg(test)]
mod tests {
    //! The whole table.
    use super::*;

    // L6
    #[test]
    fn five_pauses_double_up_to_the_longest_and_then_it_is_over() {
        let longest = |attempt| (0..40_000).filter_map(|jitter| pause(attempt, jitter)).max();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!([1, 2, 3, 4, 5].map(longest), [1, 2, 4, 8, 16].map(seconds));
        assert_eq!(longest(6), None);
        assert_eq!(longest(0), None);
    }

    // L6
    #[test]
    fn full_jitter_spreads_over_the_whole_pause() {
        let mut pauses: Vec<u128> =
            (0..16_001).filter_map(|jitter| pause(5, jitter)).map(|pause| pause.as_millis()).collect();
        pauses.sort_unstable();
        pauses.dedup();
        assert_eq!(pauses, (0..=16_000).collect::<Vec<u128>>());
    }
}
