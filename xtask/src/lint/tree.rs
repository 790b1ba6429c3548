//! Rules about source files that no other linter checks.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::ChoreError;

/// The line limit: a longer file holds more than one idea.
const MOST_LINES: usize = 500;
/// The lines above the module comment: a license line or an attribute, no more.
const OPENING_LINES: usize = 3;
/// The forbidden attributes: `expect` reports when it is no longer needed, `allow` stays for ever. Written in
/// two parts, or this file would be reported.
const ALLOWANCES: [&str; 2] = [concat!("#[", "allow("), concat!("#![", "allow(")];

/// A file that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceFinding {
    /// The file, below the root.
    path: PathBuf,
    /// The line, counted from one; absent for the whole file.
    line: Option<usize>,
    rule: SourceRule,
}

/// A rule for source files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceRule {
    Opening,
    Length { lines: usize },
    Allowance,
}

/// Checks every `.rs` file below `root`.
pub(crate) fn check_tree(root: &Path) -> Result<(), ChoreError> {
    let mut findings = Vec::new();
    for path in find_sources(root)? {
        let text = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
        findings.extend(check_source(path.strip_prefix(root).unwrap_or(&path), &text));
    }
    if findings.is_empty() { Ok(()) } else { Err(ChoreError::Tree(findings)) }
}

/// The `.rs` files below `root` in a stable order, without build output and hidden folders.
pub(crate) fn find_sources(root: &Path) -> Result<Vec<PathBuf>, ChoreError> {
    find_files(root, "rs")
}

/// The files with this extension below `root` in a stable order, without build output and hidden folders.
pub(crate) fn find_files(root: &Path, extension: &str) -> Result<Vec<PathBuf>, ChoreError> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(ChoreError::file_error(&folder))? {
            let entry = entry.map_err(ChoreError::file_error(&folder))?;
            let name = entry.file_name();
            let is_ours = name != "target" && !name.to_string_lossy().starts_with('.');
            let kind = entry.file_type().map_err(ChoreError::file_error(&folder))?;
            if kind.is_dir() && is_ours {
                folders.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|found| found == extension) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn check_source(path: &Path, text: &str) -> Vec<SourceFinding> {
    let finding = |line, rule| SourceFinding { path: path.to_owned(), line, rule };
    let mut findings = Vec::new();
    if !text.lines().take(OPENING_LINES).any(|line| line.starts_with("//!")) {
        findings.push(finding(None, SourceRule::Opening));
    }
    let lines = text.lines().count();
    if lines > MOST_LINES {
        findings.push(finding(None, SourceRule::Length { lines }));
    }
    for (index, line) in text.lines().enumerate() {
        if ALLOWANCES.iter().any(|allowance| line.contains(allowance)) {
            findings.push(finding(Some(index + 1), SourceRule::Allowance));
        }
    }
    findings
}

impl fmt::Display for SourceFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match self.rule {
            SourceRule::Opening => write!(f, ": does not open with `//!`: say what the file is for"),
            SourceRule::Length { lines } => {
                write!(f, ": has {lines} lines, more than {MOST_LINES}: split it by idea")
            }
            SourceRule::Allowance => write!(f, ": write `expect` with a reason instead of `allow`"),
        }
    }
}

#[cfg(test)]
mod tests;
