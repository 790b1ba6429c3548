//! The accepted ratios, a small file that is committed.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The growth of a ratio that fails.
const GROWTH: f64 = 1.25;

/// The accepted ratio of each figure.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedRatios {
    ratios: BTreeMap<String, f64>,
}

/// The comparison of a measured ratio with the accepted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RatioVerdict {
    /// At most a quarter above the accepted ratio.
    Accepted {
        accepted: f64,
    },
    /// So much better that the accepted ratio hides a later regression.
    Better {
        accepted: f64,
    },
    TooHigh {
        accepted: f64,
    },
    /// No ratio was accepted yet, or none could be measured.
    Unknown,
}

impl AcceptedRatios {
    /// Reads the file; a missing one has no ratios.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(serde_json::from_str(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, serde_json::to_string_pretty(self)? + "\n")
    }

    pub(crate) fn insert(&mut self, figure: &str, ratio: f64) {
        self.ratios.insert(figure.to_owned(), (ratio * 100.0).round() / 100.0);
    }

    pub(crate) fn judge(&self, figure: &str, ratio: f64) -> RatioVerdict {
        match self.ratios.get(figure).copied() {
            Some(accepted) if ratio > accepted * GROWTH => RatioVerdict::TooHigh { accepted },
            Some(accepted) if ratio < accepted / GROWTH => RatioVerdict::Better { accepted },
            Some(accepted) if ratio.is_finite() => RatioVerdict::Accepted { accepted },
            Some(_) | None => RatioVerdict::Unknown,
        }
    }
}

impl RatioVerdict {
    pub(crate) fn is_accepted(self) -> bool {
        match self {
            Self::Accepted { .. } | Self::Better { .. } => true,
            Self::TooHigh { .. } | Self::Unknown => false,
        }
    }
}

impl fmt::Display for RatioVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted { accepted } => write!(f, "accepted {accepted:.2}: ok"),
            Self::Better { accepted } => {
                write!(
                    f,
                    "accepted {accepted:.2}: much better; `cargo xtask bench smoke --write` keeps it so"
                )
            }
            Self::TooHigh { accepted } => {
                write!(f, "accepted {accepted:.2}: TOO HIGH, above {:.2}", accepted * GROWTH)
            }
            Self::Unknown => write!(f, "no ratio is accepted"),
        }
    }
}

#[cfg(test)]
mod tests;
