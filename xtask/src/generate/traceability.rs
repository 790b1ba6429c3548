//! The page that lists the tests of each requirement, from the ids in comments before tests.
//!
//! An id counts for the first function after its comment, or for the function that its comment is the first line of. A requirement without a test is an error, so the page has
//! no empty row.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::GeneratedPage;
use super::markdown::{render_code, render_table};
use crate::error::ChoreError;
use crate::lint::tree;

/// The page that defines the ids.
const REQUIREMENTS: &str = "docs/requirements.md";
/// The folders with tests.
const FOLDERS: [&str; 5] = ["bench", "crates", "fleet", "fuzz", "xtask"];
/// The number of tests that a row names. The others are found by searching for the id.
const NAMED_TESTS: usize = 4;
/// The maximum number of lines between a comment and its function: attributes, and the head of a macro.
const LINES_BETWEEN: usize = 8;

/// A test, as a row names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TracedTest {
    file: String,
    function: String,
}

/// Renders the page.
pub(super) fn render_page(root: &Path) -> Result<GeneratedPage, ChoreError> {
    let path = root.join(REQUIREMENTS);
    let requirements = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
    let mut tests = BTreeMap::new();
    for folder in FOLDERS {
        for path in tree::find_sources(&root.join(folder))? {
            let text = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
            let file = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            collect_tests(&file, &text, &mut tests);
        }
    }
    let ids = defined_ids(&requirements);
    let unproven: Vec<&str> = ids.iter().copied().filter(|id| !tests.contains_key(*id)).collect();
    if !unproven.is_empty() {
        return Err(ChoreError::Unproven { ids: unproven.join(", "), page: PathBuf::from(REQUIREMENTS) });
    }
    let rows = ids.iter().map(|id| {
        let found = tests.get(*id).map(Vec::as_slice).unwrap_or_default();
        [(*id).to_owned(), found.len().to_string(), describe_tests(found)]
    });
    let table = render_table(["id", "tests", "such as"], rows);
    let intro = "# Traceability\n\nThe tests of each [requirement](../requirements.md): their number, and some of them. \
                 `grep -rnw F49 crates` finds all of them.\n";
    Ok(GeneratedPage::markdown("traceability.md", &format!("{intro}\n{table}")))
}

/// The ids that the page of requirements defines, in its order.
fn defined_ids(requirements: &str) -> Vec<&str> {
    let cells = requirements.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    cells.filter(|cell| is_id(cell)).collect()
}

/// Adds the tests of a file to those of their ids.
fn collect_tests(file: &str, text: &str, tests: &mut BTreeMap<String, Vec<TracedTest>>) {
    let mut waiting: Vec<&str> = Vec::new();
    let mut age = 0;
    let mut begun = None;
    for line in text.lines().map(str::trim_start) {
        if let Some(comment) = line.strip_prefix("// ") {
            let ids = comment_ids(comment);
            match begun {
                // The first line of a function.
                Some(function) => ids.iter().for_each(|id| add_test(file, function, id, tests)),
                None if !ids.is_empty() => {
                    waiting.extend(ids);
                    age = 0;
                }
                None => {}
            }
            continue;
        }
        begun = function_name(line);
        age += 1;
        if age > LINES_BETWEEN {
            waiting.clear();
        }
        let Some(function) = begun else { continue };
        waiting.drain(..).for_each(|id| add_test(file, function, id, tests));
    }
}

fn add_test(file: &str, function: &str, id: &str, tests: &mut BTreeMap<String, Vec<TracedTest>>) {
    let test = TracedTest { file: file.to_owned(), function: function.to_owned() };
    let known = tests.entry(id.to_owned()).or_default();
    if !known.contains(&test) {
        known.push(test);
    }
}

/// The ids at the start of a comment; words after them are its explanation.
fn comment_ids(comment: &str) -> Vec<&str> {
    let words = comment.split([' ', ',']).filter(|word| !word.is_empty());
    words.map(|word| word.trim_end_matches([':', '.', ';'])).take_while(|word| is_id(word)).collect()
}

/// Whether a word is an id: a letter, one to three digits, at times a small letter.
fn is_id(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(|first: char| first.is_ascii_uppercase()) else { return false };
    let digits = rest.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(rest);
    (1..=3).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// The name of the function that a line begins.
fn function_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_head = before.split_whitespace().all(|word| word.starts_with("pub") || word == "async");
    let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| is_head && !name.is_empty())
}

fn describe_tests(tests: &[TracedTest]) -> String {
    let mut sorted = tests.to_vec();
    sorted.sort();
    // One test of each file first: they are the most different ones.
    let mut files = std::collections::BTreeSet::new();
    let (firsts, others): (Vec<TracedTest>, Vec<TracedTest>) =
        sorted.into_iter().partition(|test| files.insert(test.file.clone()));
    let named = firsts.iter().chain(&others).take(NAMED_TESTS);
    let names = named.map(|test| {
        let link = format!("../../{}", test.file);
        format!("[{}]({link})", render_code(&test.function))
    });
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_of(text: &str) -> Vec<(String, Vec<String>)> {
        let mut tests = BTreeMap::new();
        collect_tests("a.rs", text, &mut tests);
        let names = |tests: Vec<TracedTest>| tests.into_iter().map(|test| test.function).collect();
        tests.into_iter().map(|(id, tests)| (id, names(tests))).collect()
    }

    #[test]
    fn ids_before_a_function_name_its_test() {
        let text =
            "// C7 B22: by its content\n#[tokio::test]\nasync fn entry_waits() {\n    // a comment\n}\n";
        let expected = ["B22", "C7"].map(|id| (id.to_owned(), vec!["entry_waits".to_owned()]));
        assert_eq!(tests_of(text), expected);
    }

    #[test]
    fn ids_far_from_a_function_or_in_prose_count_for_nothing() {
        let far = format!("// C7\n{}fn late() {{}}\n", "\n".repeat(LINES_BETWEEN + 1));
        assert_eq!(tests_of(&far), []);
        assert_eq!(tests_of("// Like C7 in prose\nfn other() {}\n"), []);
    }

    #[test]
    fn ids_are_those_of_the_first_column() {
        let page = "| id | requirement |\n|---|---|\n| C1 | text | \n| U2a | C9 |\n| letters | x |\n";
        assert_eq!(defined_ids(page), ["C1", "U2a"]);
    }
}
