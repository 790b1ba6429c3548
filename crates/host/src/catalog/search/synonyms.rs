//! Words that mean the same to whoever looks for a tool. Which ones is data: `synonyms.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::stem;

const GROUPS: &str = include_str!("synonyms.txt");

static OTHERS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(read);

/// The stems that may stand for this one.
pub(super) fn of(stem: &str) -> &'static [String] {
    OTHERS.get(stem).map_or(&[], Vec::as_slice)
}

fn read() -> HashMap<String, Vec<String>> {
    let mut others: HashMap<String, Vec<String>> = HashMap::new();
    for line in GROUPS.lines().filter(|line| !line.starts_with('#')) {
        let group: Vec<String> = line.split_whitespace().map(stemmed).collect();
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

fn stemmed(word: &str) -> String {
    let mut word = word.to_owned();
    stem(&mut word);
    word
}
