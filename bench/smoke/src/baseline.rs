//! The accepted ratios, a small file that is committed.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The growth of a ratio that fails.
const GROWTH: f64 = 1.25;

/// The accepted ratio of each figure.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedRatios {
    ratios: BTreeMap<String, f64>,
}

/// The reason why nothing can be compared.
#[derive(Debug)]
pub(crate) enum BaselineError {
    /// There is no file.
    Missing(PathBuf),
    /// The file has no ratio for these figures.
    Incomplete(Vec<String>),
    /// The file cannot be read.
    Unreadable(io::Error),
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
    /// None could be measured.
    Unknown,
}

impl AcceptedRatios {
    /// Reads the file, which must have a ratio for each of these figures.
    pub(crate) fn read<'a>(
        path: &Path,
        figures: impl Iterator<Item = &'a str>,
    ) -> Result<Self, BaselineError> {
        let accepted: Self = match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::from)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BaselineError::Missing(path.to_owned()));
            }
            Err(error) => return Err(error.into()),
        };
        let unnamed: Vec<String> =
            figures.filter(|figure| !accepted.ratios.contains_key(*figure)).map(str::to_owned).collect();
        if unnamed.is_empty() { Ok(accepted) } else { Err(BaselineError::Incomplete(unnamed)) }
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

impl From<io::Error> for BaselineError {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HINT: &str = "run `cargo xtask bench smoke --write` on a machine that does nothing else";
        match self {
            Self::Missing(path) => {
                write!(f, "nothing is accepted yet: there is no `{}`\nhint: {HINT}", path.display())
            }
            Self::Incomplete(figures) => {
                write!(f, "no ratio is accepted for {}\nhint: {HINT}", figures.join(", "))
            }
            Self::Unreadable(error) => write!(f, "the accepted ratios cannot be read: {error}"),
        }
    }
}

impl std::error::Error for BaselineError {}

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
            Self::Unknown => write!(f, "no ratio"),
        }
    }
}

#[cfg(test)]
mod tests;
