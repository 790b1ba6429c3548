//! Rounds durations for people.

use std::time::Duration;

/// The duration as people say it: milliseconds below a second, hundredths below ten, tenths above.
///
/// A limit of 30 s that is measured as 29.998231 s is told as `30s`.
#[must_use]
pub fn rounded(duration: Duration) -> Duration {
    let step = match duration.as_millis() {
        0..1_000 => 1,
        1_000..10_000 => 10,
        _ => 100,
    };
    let step = Duration::from_millis(step);
    let steps = (duration + step / 2).as_millis() / step.as_millis();
    // Below a millisecond there is nothing left to round to.
    match u32::try_from(steps) {
        Ok(0) | Err(_) => duration,
        Ok(steps) => step * steps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U3
    #[test]
    fn durations_are_told_without_digits_nobody_reads() {
        let cases = [
            (29_998_231, "30s"),
            (30_000_000, "30s"),
            (1_499_731, "1.5s"),
            (1_234_567, "1.23s"),
            (250_400, "250ms"),
            (999_600, "1s"),
            (61_240_000, "61.2s"),
            (40, "40µs"),
            (0, "0ns"),
        ];
        for (micros, expected) in cases {
            assert_eq!(format!("{:?}", rounded(Duration::from_micros(micros))), expected);
        }
    }
}
