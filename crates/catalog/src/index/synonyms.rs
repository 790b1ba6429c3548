//! Synonyms for searches. The groups are data: `synonyms.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words::stem_of;

const GROUPS: &str = include_str!("synonyms.txt");

static OTHERS: LazyLock<HashMap<String, Vec<Synonym>>> = LazyLock::new(parse_groups);

/// A synonym of a word.
#[derive(Debug)]
pub(super) struct Synonym {
    pub(super) stem: String,
    /// Whether the words usually mean the same; otherwise only some people use one for the other.
    pub(super) is_close: bool,
}

/// The synonyms of this stem.
pub(super) fn synonyms_of(stem: &str) -> &'static [Synonym] {
    OTHERS.get(stem).map_or(&[], Vec::as_slice)
}

fn parse_groups() -> HashMap<String, Vec<Synonym>> {
    let mut others: HashMap<String, Vec<Synonym>> = HashMap::new();
    for line in GROUPS.lines() {
        let Some((kind @ ("=" | "~"), words)) = line.split_once(' ') else { continue };
        let group: Vec<String> = words.split_whitespace().map(stem_of).collect();
        for word in &group {
            let known = others.entry(word.clone()).or_default();
            for other in group.iter().filter(|other| *other != word) {
                // Close groups come first, so a word of both kinds is close.
                if !known.iter().any(|known| known.stem == *other) {
                    known.push(Synonym { stem: other.clone(), is_close: kind == "=" });
                }
            }
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    // N10
    #[test]
    fn close_groups_come_before_loose_ones_and_every_line_is_a_group() {
        let kinds: Vec<&str> = GROUPS.lines().filter_map(|line| line.get(..2)).collect();
        assert!(kinds.iter().all(|kind| ["# ", "= ", "~ "].contains(kind)), "{kinds:?}");
        assert!(kinds.is_sorted_by_key(|kind| ["# ", "= ", "~ "].iter().position(|known| known == kind)));
        let of_folder: Vec<_> =
            synonyms_of("folder").iter().map(|other| (other.stem.as_str(), other.is_close)).collect();
        assert_eq!(of_folder, [("directory", true)]);
        assert!(synonyms_of("throw").iter().all(|other| !other.is_close));
    }
}
