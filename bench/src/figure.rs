//! One row of the table: a measured figure and its promised limit.

use std::fmt;

use crate::rounds::RoundSamples;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureUnit {
    /// Seconds; less is better.
    Time,
    /// Calls per second; more is better.
    Rate,
    /// Bytes; less is better.
    Memory,
}

/// The promised limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FigureBound {
    /// At most this many times the baseline.
    AtMost(f64),
    /// At least this many times the baseline.
    AtLeast(f64),
    /// At most this many bytes, regardless of a baseline.
    Absolute(f64),
    /// At most this many seconds in the median round, regardless of a baseline.
    Within(f64),
    /// No promise; the figure explains the others.
    None,
}

/// One row of the table.
#[derive(Clone, Debug)]
pub(crate) enum BenchFigure {
    /// Measured against a baseline.
    Compared { name: String, unit: FigureUnit, limit: RoundSamples, ours: RoundSamples, bound: FigureBound },
    /// Measured without a baseline.
    Alone { name: String, unit: FigureUnit, ours: RoundSamples, bound: FigureBound },
    /// Not measured, with the reason.
    Missing { name: String, why: String },
}

impl BenchFigure {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Compared { name, .. } | Self::Alone { name, .. } | Self::Missing { name, .. } => name,
        }
    }

    /// The median of the ratios of the rounds.
    pub(crate) fn ratio(&self) -> Option<f64> {
        match self {
            Self::Compared { limit, ours, .. } => Some(ours.ratio(limit)),
            Self::Alone { .. } | Self::Missing { .. } => None,
        }
    }

    /// The ratio of the two best rounds.
    pub(crate) fn best_ratio(&self) -> Option<f64> {
        match self {
            Self::Compared { unit, limit, ours, .. } => {
                Some(unit.best_sample(ours) / unit.best_sample(limit))
            }
            Self::Alone { .. } | Self::Missing { .. } => None,
        }
    }

    pub(crate) fn bound(&self) -> FigureBound {
        match self {
            Self::Compared { bound, .. } | Self::Alone { bound, .. } => *bound,
            Self::Missing { .. } => FigureBound::None,
        }
    }

    /// Whether the figure is worse than promised by more than `slack`. A figure without samples is.
    pub(crate) fn is_over(&self, slack: f64) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        let is_within = match (self.bound(), self) {
            (FigureBound::AtMost(most), _) => ratio <= most * slack,
            (FigureBound::AtLeast(least), _) => ratio >= least / slack,
            (bound @ (FigureBound::Absolute(most) | FigureBound::Within(most)), Self::Alone { ours, .. }) => {
                bound.judged_sample(ours) <= most * slack
            }
            (FigureBound::Absolute(_) | FigureBound::Within(_) | FigureBound::None, _) => true,
        };
        !is_within
    }
}

/// The reasons why a check of these figures fails: limits exceeded, and figures that could not be measured.
pub(crate) fn check_figures(figures: &[BenchFigure], slack: f64) -> Vec<String> {
    let failure = |figure: &BenchFigure| match figure {
        BenchFigure::Missing { name, why } => Some(format!("not measured: {name}: {why}")),
        BenchFigure::Compared { .. } | BenchFigure::Alone { .. } => {
            figure.is_over(slack).then(|| format!("over the limit: {}", figure.name()))
        }
    };
    let mut failures: Vec<String> = figures.iter().filter_map(failure).collect();
    let is_promised = |figure: &BenchFigure| figure.bound() != FigureBound::None;
    if failures.is_empty() && !figures.iter().any(is_promised) {
        failures.push("nothing to check: no selected figure has a promise".to_owned());
    }
    failures
}

impl FigureBound {
    /// The sample of a figure without a baseline that is compared with the bound, and shown.
    pub(crate) fn judged_sample(self, samples: &RoundSamples) -> f64 {
        match self {
            Self::Absolute(_) => samples.most(),
            Self::Within(_) | Self::None | Self::AtMost(_) | Self::AtLeast(_) => samples.median(),
        }
    }
}

impl FigureUnit {
    fn best_sample(self, samples: &RoundSamples) -> f64 {
        match self {
            Self::Time | Self::Memory => samples.least(),
            Self::Rate => samples.most(),
        }
    }

    /// The amount formatted for people.
    pub(crate) fn format_amount(self, amount: f64) -> String {
        match self {
            Self::Time if amount < 1e-3 => format!("{:.1} µs", amount * 1e6),
            Self::Time => format!("{:.2} ms", amount * 1e3),
            Self::Rate => format!("{:.0} k/s", amount / 1e3),
            Self::Memory if amount < 1e5 => format!("{:.1} kB", amount / 1e3),
            Self::Memory => format!("{:.1} MB", amount / 1e6),
        }
    }
}

impl fmt::Display for FigureBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::Absolute(most) => write!(f, "≤ {}", FigureUnit::Memory.format_amount(*most)),
            Self::Within(most) => write!(f, "≤ {}", FigureUnit::Time.format_amount(*most)),
            Self::None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_without_samples_fails_the_check_under_every_bound() {
        let none = RoundSamples::default;
        let bounds = [FigureBound::AtMost(1e9), FigureBound::AtLeast(0.0)];
        let compared = bounds.map(|bound| BenchFigure::Compared {
            name: "compared".to_owned(),
            unit: FigureUnit::Time,
            limit: none(),
            ours: none(),
            bound,
        });
        let bounds = [FigureBound::Absolute(1e9), FigureBound::Within(1e9)];
        let alone = bounds.map(|bound| BenchFigure::Alone {
            name: "alone".to_owned(),
            unit: FigureUnit::Memory,
            ours: none(),
            bound,
        });
        let figures: Vec<BenchFigure> = compared.into_iter().chain(alone).collect();
        assert_eq!(check_figures(&figures, 1.0).len(), 4);
    }

    #[test]
    fn check_of_figures_without_a_promise_fails() {
        let figure = |bound| BenchFigure::Alone {
            name: "alone".to_owned(),
            unit: FigureUnit::Time,
            ours: RoundSamples::after_warming_up(&[1.0, 1.0]),
            bound,
        };
        let failures = check_figures(&[figure(FigureBound::None)], 1.0);
        assert_eq!(failures, ["nothing to check: no selected figure has a promise"]);
        assert!(
            check_figures(&[figure(FigureBound::None), figure(FigureBound::Within(2.0))], 1.0).is_empty()
        );
    }
}
