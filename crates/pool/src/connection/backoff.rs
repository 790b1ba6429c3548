//! Exponential backoff with full jitter between reconnects. Pure.

use std::time::Duration;

use mcparley_model::limits::{RECONNECT_ATTEMPTS, RECONNECT_FIRST, RECONNECT_LONGEST};

/// The backoff before attempt `attempt` (from 1); `None` when it is time to give up.
///
/// `jitter` is a random number. Full jitter spreads servers that died together over the whole pause, so that
/// they do not all restart at the same moment.
pub(super) fn pause_before(attempt: u32, jitter: u64) -> Option<Duration> {
    if attempt == 0 || attempt > RECONNECT_ATTEMPTS {
        return None;
    }
    let longest = RECONNECT_FIRST.saturating_mul(1 << (attempt - 1).min(16)).min(RECONNECT_LONGEST);
    let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
    Some(Duration::from_millis(jitter % (millis + 1)))
}

#[cfg(test)]
mod tests {
    //! The whole backoff table, and its bounds for any attempt and any random number.
    use proptest::prelude::*;

    use super::*;

    // L6
    #[test]
    fn backoff_doubles_five_times_and_then_gives_up() {
        let longest = |attempt| (0..40_000).filter_map(|jitter| pause_before(attempt, jitter)).max();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!([1, 2, 3, 4, 5].map(longest), [1, 2, 4, 8, 16].map(seconds));
        assert_eq!(longest(6), None);
        assert_eq!(longest(0), None);
    }

    // L6
    #[test]
    fn full_jitter_spreads_over_the_whole_pause() {
        let mut pauses: Vec<u128> =
            (0..16_001).filter_map(|jitter| pause_before(5, jitter)).map(|pause| pause.as_millis()).collect();
        pauses.sort_unstable();
        pauses.dedup();
        assert_eq!(pauses, (0..=16_000).collect::<Vec<u128>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        // L6: for any attempt and any random number, the pause is within its bounds, or there is none.
        #[test]
        fn backoff_is_within_its_bounds(attempt in prop_oneof![0..40_u32, any::<u32>()], jitter: u64) {
            let pause = pause_before(attempt, jitter);
            prop_assert_eq!(pause.is_some(), (1..=RECONNECT_ATTEMPTS).contains(&attempt));
            if let Some(pause) = pause {
                prop_assert!(pause <= RECONNECT_FIRST * 2_u32.pow(attempt - 1));
                prop_assert!(pause <= RECONNECT_LONGEST);
                let largest = pause_before(attempt, u64::MAX - jitter % 3);
                prop_assert!(largest.is_some_and(|largest| largest <= RECONNECT_LONGEST));
            }
        }
    }
}
