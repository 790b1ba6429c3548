//! Measures how the crates read, and fails when a figure gets worse: names that are shared, vague or participles, and
//! comments that use a pronoun where their subject belongs.
//!
//! The ceilings are a ratchet. Lower a constant when its figure falls; raise none. `testkit` is left out: it is for tests
//! only.

mod comments;
mod names;

use std::fmt;
use std::path::Path;

use crate::error::ChoreError;
use crate::lint::sources::{self, CrateSources};
use comments::CommentCount;
use names::NameCount;

/// The crate that is for tests only.
const TEST_CRATE: &str = "crates/testkit";

/// The highest value that each figure may have. They only fall.
const CEILINGS: [(FigureKind, f64); 6] = [
    (FigureKind::SharedTypes, 0.5),
    (FigureKind::OneWordFunctions, 12.0),
    (FigureKind::ParticipleFunctions, 0.2),
    (FigureKind::FillerFunctions, 0.2),
    (FigureKind::Pronouns, 10.0),
    (FigureKind::PronounFirst, 0.3),
];
/// Comment words per line of source, at least: deleting comments is no way to better figures.
const MIN_COMMENT_DENSITY: f64 = 0.9;

/// A property of the wording that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureKind {
    /// Percent of the types that share their name with another type.
    SharedTypes,
    /// Percent of the functions whose name is one word, where the author may choose it.
    OneWordFunctions,
    /// Percent of the functions that are named by a participle.
    ParticipleFunctions,
    /// Percent of the functions whose name is filled up: `do_x`, `tell_it`.
    FillerFunctions,
    /// Pronouns such as `what` and `nobody` in ten thousand words of comments.
    Pronouns,
    /// Percent of the doc comments that begin with a pronoun instead of their subject.
    PronounFirst,
}

/// A figure on the wrong side of its limit.
#[derive(Debug, PartialEq)]
pub(crate) struct WordingFinding {
    label: &'static str,
    value: f64,
    limit: f64,
    /// The worst places, so that the cause need not be searched for.
    examples: Vec<String>,
}

/// Names and comments of all crates, counted.
#[derive(Debug, Default)]
struct WordingCount {
    lines: usize,
    names: NameCount,
    comments: CommentCount,
}

/// Measures all crates below `root/crates`, prints the figures, and fails when one is beyond its limit.
pub(crate) fn check_wording(root: &Path) -> Result<(), ChoreError> {
    let mut count = WordingCount::default();
    for sources in sources::read_crates(root)? {
        if sources.folder != TEST_CRATE {
            count.add_crate(&sources);
        }
    }
    let findings = count.find_excesses();
    if findings.is_empty() { Ok(()) } else { Err(ChoreError::Wording(findings)) }
}

impl WordingCount {
    fn add_crate(&mut self, sources: &CrateSources) {
        for (module, text) in sources.file_texts() {
            let place = format!("{}/src/{module}", sources.folder);
            self.lines += text.lines().count();
            // A module that stands in for another in a build without a feature has the names of that one.
            if !module.rsplit('/').next().is_some_and(|name| name.starts_with("without_")) {
                self.names.add_text(&place, text);
            }
            self.comments.add_text(&place, text);
        }
    }

    /// Prints each figure beside its limit, and gives those beyond it.
    fn find_excesses(&self) -> Vec<WordingFinding> {
        let mut findings = Vec::new();
        for (kind, limit) in CEILINGS {
            let value = self.measure(kind);
            eprintln!("{:46} {value:6.1} (at most {limit})", kind.label());
            if value > limit {
                findings.push(WordingFinding {
                    label: kind.label(),
                    value,
                    limit,
                    examples: self.examples(kind),
                });
            }
        }
        let density = divide(self.comments.words, self.lines);
        let label = "comment words per line";
        eprintln!("{label:46} {density:6.2} (at least {MIN_COMMENT_DENSITY})");
        if density < MIN_COMMENT_DENSITY {
            let limit = MIN_COMMENT_DENSITY;
            findings.push(WordingFinding { label, value: density, limit, examples: Vec::new() });
        }
        findings
    }

    fn measure(&self, kind: FigureKind) -> f64 {
        let functions = self.names.functions;
        match kind {
            FigureKind::SharedTypes => 100.0 * divide(self.names.shared_types(), self.names.types()),
            FigureKind::OneWordFunctions => 100.0 * divide(self.names.one_word, functions),
            FigureKind::ParticipleFunctions => 100.0 * divide(self.names.participles.len(), functions),
            FigureKind::FillerFunctions => 100.0 * divide(self.names.fillers.len(), functions),
            FigureKind::Pronouns => 10_000.0 * divide(self.comments.pronouns.len(), self.comments.words),
            FigureKind::PronounFirst => {
                100.0 * divide(self.comments.pronoun_first.len(), self.comments.doc_comments)
            }
        }
    }

    /// A few places that make up a figure.
    fn examples(&self, kind: FigureKind) -> Vec<String> {
        const MOST: usize = 10;
        let places = match kind {
            FigureKind::SharedTypes => self.names.shared_type_names(),
            FigureKind::OneWordFunctions => self.names.one_word_names(),
            FigureKind::ParticipleFunctions => self.names.participles.clone(),
            FigureKind::FillerFunctions => self.names.fillers.clone(),
            FigureKind::Pronouns => self.comments.pronouns.clone(),
            FigureKind::PronounFirst => self.comments.pronoun_first.clone(),
        };
        places.into_iter().take(MOST).collect()
    }
}

impl FigureKind {
    fn label(self) -> &'static str {
        match self {
            Self::SharedTypes => "types that share their name, %",
            Self::OneWordFunctions => "functions with a one-word name, %",
            Self::ParticipleFunctions => "functions named by a participle, %",
            Self::FillerFunctions => "functions with a filler in their name, %",
            Self::Pronouns => "pronouns in 10,000 words of comments",
            Self::PronounFirst => "doc comments that begin with a pronoun, %",
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a source tree are far below 2^52")]
fn divide(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl fmt::Display for WordingFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:.2}, and the limit is {}", self.label, self.value, self.limit)?;
        self.examples.iter().try_for_each(|example| write!(f, "\n    {example}"))
    }
}

#[cfg(test)]
mod tests;
