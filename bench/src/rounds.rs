//! Rounds: every contender once in each, in rotating order.

use std::io;

/// What one contender needed, round by round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// What was measured in one go, without the first, which warms up.
    pub(crate) fn after_warming_up(measured: &[f64]) -> Self {
        Self(measured.iter().skip(1).copied().collect())
    }

    /// The middle one; not a number if there is none.
    pub(crate) fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// The smallest.
    pub(crate) fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// The largest.
    pub(crate) fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    /// The middle one of the ratios to `other` of the same round.
    pub(crate) fn ratio(&self, other: &Self) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(ours, theirs)| ours / theirs).collect())
    }
}

/// The middle of some numbers; not a number if there is none.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Measures `contenders` things, each once in each round. The first round warms up and does not count.
pub(crate) fn run(
    rounds: usize,
    contenders: usize,
    mut measure: impl FnMut(usize) -> io::Result<f64>,
) -> io::Result<Vec<Samples>> {
    let mut samples = vec![Samples::default(); contenders];
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
