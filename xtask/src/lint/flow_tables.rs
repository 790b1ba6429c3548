//! Checks the tables of `docs/architecture.md`: every file and function that they name exists.

use std::fmt;
use std::path::Path;

use crate::error::ChoreError;

/// The page with the tables, below the root.
const PAGE: &str = "docs/architecture.md";

/// A row of the page that names a file or function that is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StaleRow {
    /// The line of the page, counted from one.
    line: usize,
    file: String,
    /// The function; absent when there is no such file.
    function: Option<String>,
}

/// Fails when the page names a file or function that is not there.
pub(super) fn check_flow_tables(root: &Path) -> Result<(), ChoreError> {
    let page = root.join(PAGE);
    let text = std::fs::read_to_string(&page).map_err(ChoreError::file_error(&page))?;
    let stale = find_stale(&text, |file| std::fs::read_to_string(root.join(file)).ok());
    if stale.is_empty() { Ok(()) } else { Err(ChoreError::StaleRows(stale)) }
}

/// The stale rows of a page; `read` gives the text of a source file.
fn find_stale(page: &str, read: impl Fn(&str) -> Option<String>) -> Vec<StaleRow> {
    let mut stale = Vec::new();
    for (index, row) in page.lines().enumerate() {
        let Some((file, functions)) = parse_row(row) else { continue };
        let found = |function| StaleRow { line: index + 1, file: file.to_owned(), function };
        match read(file) {
            None => stale.push(found(None)),
            Some(source) => {
                let missing = functions.into_iter().filter(|function| !defines(&source, function));
                stale.extend(missing.map(|function| found(Some(function.to_owned()))));
            }
        }
    }
    stale
}

/// The file and the functions of a row such as ``| step | `crates/a/src/b.rs` | `c`, `d` |``.
fn parse_row(row: &str) -> Option<(&str, Vec<&str>)> {
    let (_, rest) = row.split_once("| `crates/")?;
    let start = row.len() - rest.len() - "crates/".len();
    let (file, functions) = row[start..].split_once("` | ")?;
    Some((file, functions.split('`').skip(1).step_by(2).collect()))
}

fn defines(source: &str, function: &str) -> bool {
    ["(", "<"].iter().any(|end| source.contains(&format!("fn {function}{end}")))
}

impl fmt::Display for StaleRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, file, function } = self;
        match function {
            Some(function) => write!(f, "{PAGE}:{line}: `{file}` has no function `{function}`"),
            None => write!(f, "{PAGE}:{line}: there is no file `{file}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find_stale;

    #[test]
    fn row_of_a_missing_file_or_function_is_found() {
        let page = "| step | file | function |\n|---|---|---|\n| a | `crates/a/src/b.rs` | `run`, `gone`, `map` |\n\
                    | | `crates/a/src/c.rs` | `run` |\nOf `crates/a/src/d.rs` the text says nothing.\n";
        let read = |file: &str| {
            (file == "crates/a/src/b.rs")
                .then(|| "pub fn run() {}\nfn map<T>() {}\nfn gone_by() {}\n".to_owned())
        };
        let found: Vec<String> = find_stale(page, read).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/architecture.md:3: `crates/a/src/b.rs` has no function `gone`",
                "docs/architecture.md:4: there is no file `crates/a/src/c.rs`",
            ]
        );
    }
}
