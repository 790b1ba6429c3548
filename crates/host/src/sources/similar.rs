//! Guesses which name a person meant.
//!
//! Names are compared with thousands of others while somebody waits, so the distance is not worked out cell by cell: a column
//! of the table is one word of bits (Myers 1999), which is why no more than 64 letters of a name count.

/// At most this many suggestions; more is a list nobody reads.
const MOST: usize = 3;

/// How many letters of a word are compared.
const LETTERS: usize = 64;

/// The known names nearest to `wanted`.
pub(super) fn names<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let word = Word::new(wanted);
    let mut near: Vec<(usize, &str)> = Vec::with_capacity(MOST + 1);
    let mut letters = Vec::with_capacity(LETTERS);
    // Whoever asked for just this name meant something else.
    for name in known.filter(|name| *name != wanted) {
        fold(name, &mut letters);
        // Only what is nearer than the last of those there are can still count, and few names of thousands are.
        let worst = near.get(MOST - 1).map_or(usize::MAX, |(far, _)| *far);
        let most = limit(wanted, name).min(worst);
        if word.letters.len().abs_diff(letters.len()) > most {
            continue;
        }
        let found = (word.distance(&letters), name);
        if found.0 <= most
            && let Err(place) = near.binary_search(&found)
        {
            near.insert(place, found);
            near.truncate(MOST);
        }
    }
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// A word that others are compared with.
struct Word {
    letters: Vec<char>,
    /// For each letter of ASCII the places where it stands, a bit for each.
    places: [u64; 128],
}

impl Word {
    fn new(word: &str) -> Self {
        let mut letters = Vec::new();
        fold(word, &mut letters);
        let mut places = [0; 128];
        for (place, letter) in letters.iter().enumerate() {
            if let Some(places) = places.get_mut(*letter as usize) {
                *places |= 1 << place;
            }
        }
        Self { letters, places }
    }

    /// How many single-character edits lie between the two words.
    fn distance(&self, other: &[char]) -> usize {
        // What both begin with costs nothing, and names of one server all begin alike.
        let alike = self.letters.iter().zip(other).take_while(|(one, other)| one == other).count();
        let length = self.letters.len() - alike;
        let Some(last) = length.checked_sub(1) else { return other.len() - alike };
        // Where the column grows downwards and where it shrinks; all of it grows at first.
        let (mut more, mut less) = (u64::MAX, 0_u64);
        let mut distance = length;
        for letter in other.iter().skip(alike) {
            let same = self.places_of(*letter) >> alike;
            let down = same | less;
            let across = ((same & more).wrapping_add(more) ^ more) | same;
            let (grows, shrinks) = (less | !(across | more), more & across);
            distance += usize::from(grows >> last & 1 == 1);
            distance -= usize::from(shrinks >> last & 1 == 1);
            // The row above the first grows with every letter.
            let (grows, shrinks) = (grows << 1 | 1, shrinks << 1);
            more = shrinks | !(down | grows);
            less = grows & down;
        }
        distance
    }

    fn places_of(&self, letter: char) -> u64 {
        self.places.get(letter as usize).copied().unwrap_or_else(|| {
            let places = self.letters.iter().enumerate().filter(|(_, known)| **known == letter);
            places.fold(0, |places, (place, _)| places | 1 << place)
        })
    }
}

/// As much of a word as is compared, without regard to case. Nearly all names are ASCII, which is told apart at once.
fn fold(word: &str, letters: &mut Vec<char>) {
    letters.clear();
    if word.is_ascii() {
        letters.extend(word.bytes().take(LETTERS).map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        letters.extend(word.chars().flat_map(char::to_lowercase).take(LETTERS));
    }
}

fn limit(wanted: &str, name: &str) -> usize {
    wanted.len().max(name.len()).min(LETTERS) / 3
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(word: &str) -> impl Iterator<Item = char> + '_ {
        word.chars().flat_map(char::to_lowercase).take(LETTERS)
    }

    /// The same, worked out cell by cell.
    fn distance(left: &str, right: &str) -> usize {
        let right: Vec<char> = folded(right).collect();
        let mut row: Vec<usize> = (0..=right.len()).collect();
        for (index, l) in folded(left).enumerate() {
            let mut diagonal = index;
            row[0] = index + 1;
            for (place, r) in right.iter().enumerate() {
                let replaced = diagonal + usize::from(l != *r);
                diagonal = row[place + 1];
                row[place + 1] = replaced.min(row[place] + 1).min(diagonal + 1);
            }
        }
        row[right.len()]
    }

    fn by_looking_at_all(wanted: &str, known: &[String]) -> Vec<String> {
        let mut near: Vec<(usize, &str)> = known
            .iter()
            .filter(|name| *name != wanted)
            .map(|name| (distance(wanted, name), name.as_str()))
            .filter(|(far, name)| *far <= limit(wanted, name))
            .collect();
        near.sort_unstable();
        near.dedup();
        near.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
    }

    // U3
    #[test]
    fn nobody_is_told_that_they_meant_what_they_wrote() {
        assert_eq!(names("z", ["z"].into_iter()), Vec::<String>::new());
        assert_eq!(names("github", ["github", "GitHub", "gitlab"].into_iter()), ["GitHub", "gitlab"]);
    }

    proptest! {
        // N10
        #[test]
        fn the_nearest_are_found_without_looking_closely_at_all(
            wanted in "[a-cé_]{0,12}", known in prop::collection::vec("[a-cé_]{0,12}", 0..40)
        ) {
            prop_assert_eq!(names(&wanted, known.iter().map(String::as_str)), by_looking_at_all(&wanted, &known));
        }

        // N10
        #[test]
        fn the_distance_is_what_counting_edits_gives(one in "[a-bAé]{0,70}", other in "[a-bAé]{0,70}") {
            let letters: Vec<char> = folded(&other).collect();
            prop_assert_eq!(Word::new(&one).distance(&letters), distance(&one, &other));
        }
    }
}
