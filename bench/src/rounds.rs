//! Rounds of measurements: every contender once in each, in rotating order.

use std::io;

/// The samples of one contender, round by round.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundSamples(Vec<f64>);

impl RoundSamples {
    /// Samples without the first one, which warms up.
    pub(crate) fn after_warming_up(measured: &[f64]) -> Self {
        Self(measured.iter().skip(1).copied().collect())
    }

    /// The median sample; NaN if there is none.
    pub(crate) fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// The smallest sample.
    pub(crate) fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// The largest sample.
    pub(crate) fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    /// The samples times a factor.
    pub(crate) fn scale_by(&self, factor: f64) -> Self {
        Self(self.0.iter().map(|sample| sample * factor).collect())
    }

    /// The difference to `other` in the same round.
    pub(crate) fn difference_to(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours - theirs).collect())
    }

    /// The largest sample of each round.
    pub(crate) fn best_of(contenders: &[Self]) -> Self {
        let rounds = contenders.iter().map(|samples| samples.0.len()).min().unwrap_or(0);
        let best = |round: usize| {
            let samples = contenders.iter().filter_map(|samples| samples.0.get(round).copied());
            samples.fold(f64::NAN, f64::max)
        };
        Self((0..rounds).map(best).collect())
    }

    /// The median of the ratios to `other` in the same round.
    pub(crate) fn ratio(&self, other: &Self) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect())
    }
}

/// The median of some numbers; NaN if there is none.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Measures `contenders` items, each once per round. The first round warms up and does not count.
pub(crate) fn run_rounds(
    rounds: usize,
    contenders: usize,
    mut measure: impl FnMut(usize) -> io::Result<f64>,
) -> io::Result<Vec<RoundSamples>> {
    let mut samples = vec![RoundSamples::default(); contenders];
    for round in 0..=rounds {
        for place in 0..contenders {
            let contender = (place + round) % contenders;
            let sample = measure(contender)?;
            if let (Some(samples), true) = (samples.get_mut(contender), round > 0) {
                samples.0.push(sample);
            }
        }
    }
    Ok(samples)
}
