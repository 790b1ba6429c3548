//! Suggests names that the user may have meant, by edit distance.
//!
//! The distance is optimal string alignment: an inserted, removed or replaced letter is one edit, and so
//! are two swapped letters. Names are compared with thousands of others while the user waits, so the table
//! is not computed cell by cell: a column of it is one word of bits (Myers 1999, Hyyrö 2003), which is why
//! at most 64 letters of a name are compared.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// The maximum number of suggestions; users do not read a longer list.
const SUGGESTIONS: usize = 3;

/// The maximum number of compared letters of a word.
const LETTERS: usize = 64;

/// The known names nearest to `wanted`, the nearest first.
#[must_use]
pub fn similar_names<'n>(wanted: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    similar_names_by(wanted, known, |name| Cow::Borrowed(name))
}

/// The known names with a spelling nearest to that of `wanted`, the nearest first.
///
/// `spelling` removes irrelevant differences, such as that of `filePath` and `file-path`.
#[must_use]
pub fn similar_names_by<'n>(
    wanted: &str,
    known: impl Iterator<Item = &'n str>,
    spelling: fn(&str) -> Cow<'_, str>,
) -> Vec<String> {
    let word = ComparedWord::new(&spelling(wanted));
    let mut near: Vec<(usize, &str)> = Vec::with_capacity(SUGGESTIONS + 1);
    let mut letters = Vec::with_capacity(LETTERS);
    // The given name itself is not a suggestion.
    for name in known.filter(|name| *name != wanted) {
        let spelled = spelling(name);
        fold_case(&spelled, &mut letters);
        // Only a name nearer than the last suggestion can still be added, and few of thousands are.
        let worst = near.get(SUGGESTIONS - 1).map_or(usize::MAX, |(distance, _)| *distance);
        let limit = word.distance_limit(&spelled).min(worst);
        if word.letters.len().abs_diff(letters.len()) > limit {
            continue;
        }
        let found = (word.edit_distance(&letters), name);
        if found.0 <= limit
            && let Err(place) = near.binary_search(&found)
        {
            near.insert(place, found);
            near.truncate(SUGGESTIONS);
        }
    }
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// A word that others are compared with.
struct ComparedWord {
    bytes: usize,
    letters: Vec<char>,
    /// For each ASCII letter its positions in the word, one bit each.
    places: [u64; 128],
}

impl ComparedWord {
    fn new(word: &str) -> Self {
        let mut letters = Vec::new();
        fold_case(word, &mut letters);
        let mut places = [0; 128];
        for (place, letter) in letters.iter().enumerate() {
            if let Some(places) = places.get_mut(*letter as usize) {
                *places |= 1 << place;
            }
        }
        Self { bytes: word.len(), letters, places }
    }

    /// The largest distance at which another word is still similar.
    fn distance_limit(&self, other: &str) -> usize {
        self.bytes.max(other.len()).min(LETTERS) / 3
    }

    /// The number of edits between the two words.
    fn edit_distance(&self, other: &[char]) -> usize {
        // A common prefix costs nothing, and the names of one server often share one.
        let alike = self.letters.iter().zip(other).take_while(|(one, other)| one == other).count();
        let length = self.letters.len() - alike;
        let Some(last) = length.checked_sub(1) else { return other.len() - alike };
        // The bits where the column grows downwards and where it shrinks; all of it grows at first.
        let (mut more, mut less) = (u64::MAX, 0_u64);
        // The bits where the diagonal stays the same, and where the previous letter matches.
        let (mut diagonal, mut same_before) = (0_u64, 0_u64);
        let mut distance = length;
        for letter in other.iter().skip(alike) {
            let same = self.places_of(*letter) >> alike;
            let swapped = ((!diagonal & same) << 1) & same_before;
            diagonal = ((same & more).wrapping_add(more) ^ more) | same | less | swapped;
            let (grows, shrinks) = (less | !(diagonal | more), more & diagonal);
            distance += usize::from(grows >> last & 1 == 1);
            distance -= usize::from(shrinks >> last & 1 == 1);
            // The row above the first grows with every letter.
            let (grows, shrinks) = (grows << 1 | 1, shrinks << 1);
            more = shrinks | !(diagonal | grows);
            less = grows & diagonal;
            same_before = same;
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

/// The compared letters of a word, ignoring case. Nearly all names are ASCII, which has a fast path.
fn fold_case(word: &str, letters: &mut Vec<char>) {
    letters.clear();
    if word.is_ascii() {
        letters.extend(word.bytes().take(LETTERS).map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        letters.extend(word.chars().flat_map(char::to_lowercase).take(LETTERS));
    }
}
