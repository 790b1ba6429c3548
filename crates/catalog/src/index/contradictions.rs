//! Verbs that contradict each other: who wants to delete does not want to create. The pairs are data:
//! `contradictions.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{QueryWord, SearchIndex};
use crate::words::stem_of;

const PAIRS: &str = include_str!("contradictions.txt");

/// The part of its score that a tool keeps whose name contradicts the query. It ranks below one that is otherwise equal,
/// and above one that has less in common with the query.
const CONTRADICTED: f32 = 0.8;

static SIDES: LazyLock<VerbSides> = LazyLock::new(VerbSides::parse);

/// The sides of all pairs: those of pair `n` have the numbers `2n` and `2n + 1`.
struct VerbSides {
    verbs: Vec<Vec<String>>,
    /// The sides of each stem.
    places: HashMap<String, Vec<usize>>,
}

impl VerbSides {
    fn parse() -> Self {
        let mut sides = Self { verbs: Vec::new(), places: HashMap::new() };
        let pairs =
            PAIRS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('|'));
        for side in pairs.flat_map(|(one, other)| [one, other]) {
            let stems: Vec<String> = side.split_whitespace().map(stem_of).collect();
            for stem in &stems {
                sides.places.entry(stem.clone()).or_default().push(sides.verbs.len());
            }
            sides.verbs.push(stems);
        }
        sides
    }

    /// The sides of the query's verbs whose opposites the query does not have too.
    fn wanted_sides(&self, wanted: &[QueryWord]) -> Vec<usize> {
        let places = wanted.iter().filter_map(|word| self.places.get(&word.stem)).flatten();
        let mut found: Vec<usize> = places.copied().collect();
        found.sort_unstable();
        found.dedup();
        let is_alone = |side: &&usize| !found.contains(&(**side ^ 1));
        found.iter().filter(is_alone).copied().collect()
    }

    fn side_verbs(&self, side: usize) -> &[String] {
        self.verbs.get(side).map_or(&[], Vec::as_slice)
    }
}

impl SearchIndex {
    /// Lowers the scores of the documents whose name contradicts a verb of the query and does not repeat it.
    pub(super) fn lower_contradicted(&self, wanted: &[QueryWord], scores: &mut [(u32, f32)]) {
        for side in SIDES.wanted_sides(wanted) {
            let (own, opposite) = (self.named_with(side), self.named_with(side ^ 1));
            let is_contradicted = |document: u32| opposite.contains(&document) && !own.contains(&document);
            for (_, score) in scores.iter_mut().filter(|(document, _)| is_contradicted(*document)) {
                *score *= CONTRADICTED;
            }
        }
    }

    /// The documents that have a verb of this side in their name.
    fn named_with(&self, side: usize) -> std::collections::HashSet<u32> {
        let groups = SIDES.side_verbs(side).iter().filter_map(|stem| self.find_group(stem));
        let postings = groups.flat_map(|group| &group.forms).flat_map(|form| &form.postings);
        postings.filter(|posting| posting.in_name).map(|posting| posting.document).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides_of(query: &[&str]) -> Vec<Vec<String>> {
        let words: Vec<QueryWord> =
            query.iter().map(|word| QueryWord::new((*word).to_owned(), false)).collect();
        SIDES.wanted_sides(&words).into_iter().map(|side| SIDES.side_verbs(side).to_vec()).collect()
    }

    // N10
    #[test]
    fn query_with_both_verbs_of_a_pair_contradicts_neither() {
        let [open] = &sides_of(&["opened", "issues"])[..] else { panic!("one side") };
        assert_eq!(open, &[stem_of("open")]);
        assert!(sides_of(&["open", "close"]).is_empty());
        assert!(sides_of(&["weather"]).is_empty());
    }

    // N10
    #[test]
    fn every_line_of_the_data_has_two_sides_without_a_common_verb() {
        let lines = PAIRS.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(SIDES.verbs.len(), 2 * lines);
        for pair in SIDES.verbs.chunks(2) {
            let [one, other] = pair else { panic!("{pair:?}") };
            assert!(!one.is_empty() && !other.is_empty(), "{pair:?}");
            assert!(one.iter().all(|verb| !other.contains(verb)), "{pair:?}");
        }
    }
}
