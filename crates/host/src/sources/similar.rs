//! Guesses which name a person meant.

/// At most this many suggestions; more is a list nobody reads.
const MOST: usize = 3;

/// The known names nearest to `wanted`.
pub(super) fn names<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let letters = Letters::of(wanted);
    let mut near: Vec<(usize, &str)> = Vec::with_capacity(MOST + 1);
    for name in known {
        // Only what is nearer than the last of those there are can still count, and few names of thousands are.
        let worst = near.get(MOST - 1).map_or(usize::MAX, |(far, _)| *far);
        let most = limit(wanted, name).min(worst);
        if letters.at_least(name) > most {
            continue;
        }
        let found = (distance(wanted, name), name);
        if found.0 <= most
            && let Err(place) = near.binary_search(&found)
        {
            near.insert(place, found);
            near.truncate(MOST);
        }
    }
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// How often each letter stands in a word. Letters beyond ASCII share places, which only makes words look more alike.
struct Letters([i16; 128]);

impl Letters {
    fn of(word: &str) -> Self {
        let mut letters = Self([0; 128]);
        folded(word).for_each(|letter| letters.count(letter, 1));
        letters
    }

    /// No fewer edits than this lie between the two words: each changes one letter at most.
    fn at_least(&self, other: &str) -> usize {
        let mut left = Self(self.0);
        folded(other).for_each(|letter| left.count(letter, -1));
        let sum = |side: i16| left.0.iter().map(|count| usize::try_from(count * side).unwrap_or(0)).sum();
        let (missing, surplus): (usize, usize) = (sum(1), sum(-1));
        missing.max(surplus)
    }

    fn count(&mut self, letter: char, by: i16) {
        let place = letter as usize % self.0.len();
        if let Some(count) = self.0.get_mut(place) {
            *count += by;
        }
    }
}

/// As much of a word as is compared, without regard to case.
fn folded(word: &str) -> impl Iterator<Item = char> + '_ {
    word.chars().take(64).flat_map(char::to_lowercase)
}

fn limit(wanted: &str, name: &str) -> usize {
    wanted.len().max(name.len()).min(64) / 3
}

/// How many single-character edits lie between two words, without regard to case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = folded(right).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, l) in folded(left).enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (r, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(l != *r);
            diagonal = *cell;
            *cell = replaced.min(before + 1).min(diagonal + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_looking_at_all(wanted: &str, known: &[String]) -> Vec<String> {
        let mut near: Vec<(usize, &str)> = known
            .iter()
            .map(|name| (distance(wanted, name), name.as_str()))
            .filter(|(far, name)| *far <= limit(wanted, name))
            .collect();
        near.sort_unstable();
        near.dedup();
        near.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
    }

    proptest! {
        // N10
        #[test]
        fn the_nearest_are_found_without_looking_closely_at_all(
            wanted in "[a-cé_]{0,12}", known in prop::collection::vec("[a-cé_]{0,12}", 0..40)
        ) {
            prop_assert_eq!(names(&wanted, known.iter().map(String::as_str)), by_looking_at_all(&wanted, &known));
        }
    }
}
