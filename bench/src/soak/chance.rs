//! A seeded random number generator: splitmix64.

/// A repeatable source of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; zero if `end` is zero.
    pub(crate) fn number_below(&mut self, end: u64) -> u64 {
        self.next_number() % end.max(1)
    }

    /// An index below `count`.
    pub(crate) fn random_index(&mut self, count: usize) -> usize {
        // Both conversions are exact: a count of items fits into memory.
        self.number_below(count as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_numbers_and_another_does_not() {
        let numbers = |seed| {
            let mut chance = SeededRandom::new(seed);
            std::array::from_fn::<u64, 8, _>(|_| chance.number_below(1000))
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert!(numbers(7).iter().all(|number| *number < 1000));
    }
}
