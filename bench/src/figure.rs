//! One line of the table: what was measured and what is promised of it.

use std::fmt;

use crate::rounds::Samples;

/// In what something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds; less is better.
    Time,
    /// Calls in a second; more is better.
    Rate,
    /// Bytes; less is better.
    Memory,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// Ours is at most this many times the other.
    AtMost(f64),
    /// Ours is at least this many times the other.
    AtLeast(f64),
    /// Ours alone is at most this many bytes.
    Absolute(f64),
    /// Ours alone takes at most this many seconds, in the middle of the rounds.
    Within(f64),
    /// Nothing; it is shown to explain the others.
    None,
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) enum Figure {
    /// Measured against something else.
    Compared { name: String, unit: Unit, limit: Samples, ours: Samples, bound: Bound },
    /// Measured alone.
    Alone { name: String, unit: Unit, ours: Samples, bound: Bound },
    /// Not measured, and why.
    Missing { name: String, why: String },
}

impl Figure {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Compared { name, .. } | Self::Alone { name, .. } | Self::Missing { name, .. } => name,
        }
    }

    /// The middle of the ratios of the rounds.
    pub(crate) fn ratio(&self) -> Option<f64> {
        match self {
            Self::Compared { limit, ours, .. } => Some(ours.ratio(limit)),
            Self::Alone { .. } | Self::Missing { .. } => None,
        }
    }

    /// The ratio of the two best rounds.
    pub(crate) fn best_ratio(&self) -> Option<f64> {
        match self {
            Self::Compared { unit, limit, ours, .. } => Some(unit.best(ours) / unit.best(limit)),
            Self::Alone { .. } | Self::Missing { .. } => None,
        }
    }

    pub(crate) fn bound(&self) -> Bound {
        match self {
            Self::Compared { bound, .. } | Self::Alone { bound, .. } => *bound,
            Self::Missing { .. } => Bound::None,
        }
    }

    /// Whether it is worse than promised by more than `slack`.
    pub(crate) fn is_over(&self, slack: f64) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        match (self.bound(), self) {
            (Bound::AtMost(most), _) => ratio > most * slack,
            (Bound::AtLeast(least), _) => ratio < least / slack,
            (Bound::Absolute(most), Self::Alone { ours, .. }) => ours.most() > most * slack,
            (Bound::Within(most), Self::Alone { ours, .. }) => ours.median() > most * slack,
            (Bound::Absolute(_) | Bound::Within(_) | Bound::None, _) => false,
        }
    }
}

impl Unit {
    fn best(self, samples: &Samples) -> f64 {
        match self {
            Self::Time | Self::Memory => samples.least(),
            Self::Rate => samples.most(),
        }
    }

    /// As people read it.
    pub(crate) fn show(self, amount: f64) -> String {
        match self {
            Self::Time if amount < 1e-3 => format!("{:.1} µs", amount * 1e6),
            Self::Time => format!("{:.2} ms", amount * 1e3),
            Self::Rate => format!("{:.0} k/s", amount / 1e3),
            Self::Memory => format!("{:.1} MB", amount / 1e6),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::Absolute(most) => write!(f, "≤ {}", Unit::Memory.show(*most)),
            Self::Within(most) => write!(f, "≤ {}", Unit::Time.show(*most)),
            Self::None => Ok(()),
        }
    }
}
