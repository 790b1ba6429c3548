//! Synonyms for searches. The groups are data: `synonyms.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::stem_of;

const GROUPS: &str = include_str!("synonyms.txt");

static OTHERS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(parse_groups);

/// The stems of the synonyms of this stem.
pub(super) fn synonyms_of(stem: &str) -> &'static [String] {
    OTHERS.get(stem).map_or(&[], Vec::as_slice)
}

fn parse_groups() -> HashMap<String, Vec<String>> {
    let mut others: HashMap<String, Vec<String>> = HashMap::new();
    for line in GROUPS.lines().filter(|line| !line.starts_with('#')) {
        let group: Vec<String> = line.split_whitespace().map(stem_of).collect();
        for word in &group {
            let known = others.entry(word.clone()).or_default();
            for other in group.iter().filter(|other| *other != word) {
                if !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    others
}
