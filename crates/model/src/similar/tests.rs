//! Tests of suggestions, and of the edit distance against a table computed cell by cell.

use proptest::prelude::*;

use super::*;

fn folded(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).take(LETTERS).collect()
}

/// The distance of optimal string alignment, cell by cell.
fn distance_by_table(left: &str, right: &str) -> usize {
    let (left, right) = (folded(left), folded(right));
    let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            table[i][j] = match (i, j) {
                (0, edits) | (edits, 0) => edits,
                (i, j) => {
                    let replaced = table[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                    let edits = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    let is_swapped =
                        i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
                    if is_swapped { edits.min(table[i - 2][j - 2] + 1) } else { edits }
                }
            };
        }
    }
    table[left.len()][right.len()]
}

fn suggestions_by_table(wanted: &str, known: &[String]) -> Vec<String> {
    let limit = |name: &str| wanted.len().max(name.len()).min(LETTERS) / 3;
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter(|name| *name != wanted)
        .map(|name| (distance_by_table(wanted, name), name.as_str()))
        .filter(|(distance, name)| *distance <= limit(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

// U3
#[test]
fn given_name_itself_is_not_suggested() {
    assert_eq!(similar_names("z", ["z"].into_iter()), Vec::<String>::new());
    assert_eq!(similar_names("github", ["github", "GitHub", "gitlab"].into_iter()), ["GitHub", "gitlab"]);
}

#[test]
fn swapped_letters_are_one_edit() {
    assert_eq!(similar_names("ehco", ["echo", "exec"].into_iter()), ["echo"]);
}

#[test]
fn names_are_compared_by_spelling_and_returned_unchanged() {
    let spelling = |name: &str| Cow::Owned(name.replace('_', "-"));
    assert_eq!(similar_names_by("a-b-c", ["a_b_c", "a_b"].into_iter(), spelling), ["a_b_c"]);
}

proptest! {
    // N10
    #[test]
    fn bit_parallel_search_finds_the_nearest_names(
        wanted in "[a-cé_]{0,12}", known in prop::collection::vec("[a-cé_]{0,12}", 0..40)
    ) {
        let found = similar_names(&wanted, known.iter().map(String::as_str));
        prop_assert_eq!(found, suggestions_by_table(&wanted, &known));
    }

    // N10
    #[test]
    fn edit_distance_agrees_with_the_table(one in "[a-bAé]{0,70}", other in "[a-bAé]{0,70}") {
        prop_assert_eq!(ComparedWord::new(&one).edit_distance(&folded(&other)), distance_by_table(&one, &other));
    }
}
