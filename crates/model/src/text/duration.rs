//! Rounds durations for display.

use std::time::Duration;

/// Rounds a duration for display: to milliseconds below a second, to hundredths below ten, to tenths above.
///
/// A timeout of 30 s that is measured as 29.998231 s is shown as `30s`.
#[must_use]
pub fn round_duration(duration: Duration) -> Duration {
    let step = match duration.as_millis() {
        0..1_000 => 1,
        1_000..10_000 => 10,
        _ => 100,
    };
    let step = Duration::from_millis(step);
    let steps = (duration + step / 2).as_millis() / step.as_millis();
    // Below a millisecond no rounding is possible.
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
    fn durations_are_rounded_for_display() {
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
            assert_eq!(format!("{:?}", round_duration(Duration::from_micros(micros))), expected);
        }
    }
}
