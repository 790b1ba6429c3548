//! Measured amounts, time or memory, formatted for people.

use std::fmt;
use std::time::Duration;

/// A measured value or a limit. Only amounts of the same kind are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Amount {
    Time(Duration),
    /// Memory in bytes.
    Memory(u64),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Padding applies to the complete text, so the text is formatted first.
        let text = match self {
            Self::Time(time) if *time < Duration::from_micros(100) => {
                format!("{:.2} µs", time.as_secs_f64() * 1e6)
            }
            Self::Time(time) => format!("{:.2} ms", time.as_secs_f64() * 1e3),
            Self::Memory(bytes) => format!("{}.{:02} MB", bytes / 1_000_000, bytes % 1_000_000 / 10_000),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Amount;

    #[test]
    fn amounts_are_formatted_in_units_of_limits() {
        assert_eq!(Amount::Time(Duration::from_micros(1_234)).to_string(), "1.23 ms");
        assert_eq!(Amount::Time(Duration::from_nanos(490)).to_string(), "0.49 µs");
        assert_eq!(Amount::Memory(15_060_000).to_string(), "15.06 MB");
    }
}
