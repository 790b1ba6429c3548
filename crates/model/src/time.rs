//! Converts durations and times to numbers: whole milliseconds, and the time since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serializer;

/// A duration in whole milliseconds.
#[must_use]
pub fn whole_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Serializes a duration as whole milliseconds.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(whole_milliseconds(*duration))
}

/// A time in milliseconds since 1970. An earlier time counts as 1970.
#[must_use]
pub fn unix_milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, whole_milliseconds)
}

/// A time in seconds since 1970. An earlier time counts as 1970.
#[must_use]
pub fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_count_as_1970_and_parts_of_a_unit_are_cut() {
        let before = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!((unix_seconds(before), unix_milliseconds(before)), (0, 0));
        let later = UNIX_EPOCH + Duration::from_micros(1_999_900);
        assert_eq!((unix_seconds(later), unix_milliseconds(later)), (1, 1999));
        assert_eq!(whole_milliseconds(Duration::MAX), u64::MAX);
    }
}
