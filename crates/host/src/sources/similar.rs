//! Guesses which name a person meant.

/// At most this many suggestions; more is a list nobody reads.
const MOST: usize = 3;

/// The known names nearest to `wanted`.
pub(super) fn names<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut near: Vec<(usize, &str)> = known
        .map(|name| (distance(wanted, name), name))
        .filter(|(far, name)| *far <= limit(wanted, name))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}

fn limit(wanted: &str, name: &str) -> usize {
    wanted.len().max(name.len()).min(64) / 3
}

/// How many single-character edits lie between two words, without regard to case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, l) in left.chars().take(64).flat_map(char::to_lowercase).enumerate() {
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
