//! The page that lists the tests of each requirement, from the ids in comments before tests.
//!
//! An id counts for the test that its comment is in, or else for the test right below its comment. Other functions
//! prove nothing: not the helpers of tests, and not what the scripted servers test about themselves. A requirement
//! without a test is an error, so the page has no empty row.

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
/// The crate of the scripted servers: its tests are about the servers, not about mcparley.
const SCRIPTED_SERVERS: &str = "crates/testkit";
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
            let relative = path.strip_prefix(root).unwrap_or(&path);
            if relative.starts_with(SCRIPTED_SERVERS) {
                continue;
            }
            let file = relative.to_string_lossy().into_owned();
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

/// The function that a line of a file is in.
struct OpenFunction<'t> {
    name: &'t str,
    is_test: bool,
    /// The white space before it, which its last brace has too.
    indent: &'t str,
}

impl<'t> OpenFunction<'t> {
    /// The function that a line begins; `is_test` says whether the lines before mark it as a test.
    fn parse(line: &'t str, is_test: bool) -> Option<Self> {
        let text = line.trim_start();
        let indent = line.strip_suffix(text).unwrap_or_default();
        function_name(text).map(|name| Self { name, is_test, indent })
    }

    /// Whether the function ends with this line.
    fn ends_with(&self, line: &str) -> bool {
        line.strip_prefix(self.indent) == Some("}")
    }
}

/// Adds the tests of a file to those of their ids.
fn collect_tests(file: &str, text: &str, tests: &mut BTreeMap<String, Vec<TracedTest>>) {
    let mut waiting: Vec<&str> = Vec::new();
    let (mut age, mut is_test) = (0, false);
    let mut open: Option<OpenFunction<'_>> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(comment) = trimmed.strip_prefix("// ") {
            let ids = comment_ids(comment);
            match &open {
                Some(function) if function.is_test => {
                    ids.iter().for_each(|id| add_test(file, function.name, id, tests));
                }
                Some(_) => {}
                None if !ids.is_empty() => {
                    waiting.extend(ids);
                    age = 0;
                }
                None => {}
            }
            continue;
        }
        if let Some(function) = &open {
            if function.ends_with(line) {
                open = None;
            }
            continue;
        }
        is_test |= is_test_attribute(trimmed);
        age += 1;
        if age > LINES_BETWEEN {
            waiting.clear();
        }
        let Some(function) = OpenFunction::parse(line, is_test) else { continue };
        let ids = std::mem::take(&mut waiting);
        if is_test {
            ids.iter().for_each(|id| add_test(file, function.name, id, tests));
        }
        is_test = false;
        // A function on one line is over with it.
        open = Some(function).filter(|_| !line.ends_with(['}', ';']));
    }
}

/// Whether a line marks the next function as a test: `#[test]`, `#[tokio::test(…)]`.
fn is_test_attribute(line: &str) -> bool {
    let path = line.strip_prefix("#[").and_then(|rest| rest.split(['(', ']']).next());
    path.is_some_and(|path| path.rsplit("::").next() == Some("test"))
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
        let text = "// C7 B22: by its content\n#[tokio::test(start_paused = true)]\n\
                    async fn entry_waits() {\n    // a comment\n}\n";
        let expected = ["B22", "C7"].map(|id| (id.to_owned(), vec!["entry_waits".to_owned()]));
        assert_eq!(tests_of(text), expected);
    }

    #[test]
    fn ids_in_a_test_count_for_it_and_not_for_the_next() {
        let text = "#[test]\nfn first() {\n    // C7\n    let x = { 1 };\n    // B22 again\n}\n\n#[test]\nfn second() {\n}\n";
        let expected = ["B22", "C7"].map(|id| (id.to_owned(), vec!["first".to_owned()]));
        assert_eq!(tests_of(text), expected);
    }

    #[test]
    fn ids_before_or_in_a_helper_count_for_nothing() {
        let before = "// C7\nfn helper() {}\n\n#[test]\nfn test() {\n}\n";
        assert_eq!(tests_of(before), []);
        let within = "fn helper() {\n    // C7\n    work();\n}\n\n#[test]\nfn test() {\n}\n";
        assert_eq!(tests_of(within), []);
    }

    #[test]
    fn ids_far_from_a_function_or_in_prose_count_for_nothing() {
        let far = format!("// C7\n{}#[test]\nfn late() {{}}\n", "\n".repeat(LINES_BETWEEN + 1));
        assert_eq!(tests_of(&far), []);
        assert_eq!(tests_of("// Like C7 in prose\n#[test]\nfn other() {}\n"), []);
    }

    #[test]
    fn ids_are_those_of_the_first_column() {
        let page = "| id | requirement |\n|---|---|\n| C1 | text | \n| U2a | C9 |\n| letters | x |\n";
        assert_eq!(defined_ids(page), ["C1", "U2a"]);
    }
}
