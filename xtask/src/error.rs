//! The errors of chores, and their exit codes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::bench::OverLimit;
use crate::generate::PageDrift;
use crate::lint::flow_tables::StaleRow;
use crate::lint::links::DeadLink;
use crate::lint::structure::StructureFinding;
use crate::lint::tree::SourceFinding;
use crate::lint::wording::WordingFinding;

/// The error that ends a chore.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChoreError {
    #[error("`{line}` cannot be started: {source}")]
    Start { line: String, source: io::Error },
    #[error("`{line}` failed with exit code {code}")]
    Step { line: String, code: u8 },
    #[error("`{line}` was killed by a signal")]
    Signal { line: String },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("a page cannot be rendered: {0}")]
    Render(#[source] io::Error),
    #[error("source files break a rule:\n{}", indent_lines(.0))]
    Tree(Vec<SourceFinding>),
    #[error("the structure got worse:\n{}", indent_lines(.0))]
    Structure(Vec<StructureFinding>),
    #[error("the wording got worse:\n{}", indent_lines(.0))]
    Wording(Vec<WordingFinding>),
    #[error("the architecture page is stale:\n{}", indent_lines(.0))]
    StaleRows(Vec<StaleRow>),
    #[error("links lead nowhere:\n{}", indent_lines(.0))]
    DeadLinks(Vec<DeadLink>),
    #[error("generated pages differ from the code:\n{}\nhint: run `cargo xtask generate`", indent_lines(.0))]
    Drift(Vec<PageDrift>),
    #[error("requirements without a test: {ids}\nhint: name the id in a comment before its test, or remove it from `{}`", page.display())]
    Unproven { ids: String, page: PathBuf },
    #[error("`{line}` printed nothing about {wanted}")]
    Silent { line: String, wanted: String },
    #[error("`{program}` is missing or too old\nhint: {hint}")]
    Missing { program: &'static str, hint: &'static str },
    #[error("the suite lists {found} scenarios for {selection}, and {expected} were expected")]
    Scenarios { selection: &'static str, expected: usize, found: usize },
    #[error("{failed} of {all} scenarios failed; see the output below `{}`", results.display())]
    Conformance { failed: usize, all: usize, results: PathBuf },
    #[error("`{page}` differs from this run:\n{rows}\nhint: {hint}")]
    StalePage { page: &'static str, rows: String, hint: &'static str },
    #[error("{different} of {all} items differ behind the gateway")]
    NotTransparent { different: usize, all: usize },
    #[error(
        "uncommitted changes: {files}\nhint: commit them, so that another folder can have the same files"
    )]
    Uncommitted { files: usize },
    #[error("a second build is not the same: {files}\nhint: compare them with those in `{}`", second.display())]
    NotReproducible { files: String, second: PathBuf },
    #[error("the release is not ready: {steps}")]
    Unreleasable { steps: String },
    #[error("{targets} fuzz targets have findings; each input is kept below `fuzz/targets/artifacts`")]
    Findings { targets: usize },
    #[error("the tests notice {caught} of {all} changes, and {least} % are required; see `{}`", missed.display())]
    MutationScore { caught: usize, all: usize, least: usize, missed: PathBuf },
    #[error("{rows} rows have a failed step; see `{}`", page.display())]
    Incompatible { rows: usize, page: PathBuf },
    #[error("not measured: {figures}")]
    Unmeasured { figures: String },
    #[error("{file} has {bytes} bytes, and at most {most} are promised")]
    TooLarge { file: String, bytes: u64, most: u64 },
    #[error("no change of {parts} was tested\nhint: give more `--minutes`, or choose one with `--part`")]
    NoMutation { parts: String },
    #[error("over the limit:\n{}", indent_lines(.0))]
    OverLimit(Vec<OverLimit>),
}

impl ChoreError {
    /// Wraps an I/O error with its `path`, for `map_err`.
    pub(crate) fn file_error(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// The exit code: that of a failed step, or 1 for every other error.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Step { code, .. } => ExitCode::from(*code),
            Self::Start { .. }
            | Self::Signal { .. }
            | Self::File { .. }
            | Self::Render(_)
            | Self::Tree(_)
            | Self::Structure(_)
            | Self::Wording(_)
            | Self::StaleRows(_)
            | Self::DeadLinks(_)
            | Self::Drift(_)
            | Self::Unproven { .. }
            | Self::Silent { .. }
            | Self::Missing { .. }
            | Self::Scenarios { .. }
            | Self::Conformance { .. }
            | Self::StalePage { .. }
            | Self::NotTransparent { .. }
            | Self::Uncommitted { .. }
            | Self::NotReproducible { .. }
            | Self::Unreleasable { .. }
            | Self::Findings { .. }
            | Self::MutationScore { .. }
            | Self::NoMutation { .. }
            | Self::Unmeasured { .. }
            | Self::Incompatible { .. }
            | Self::TooLarge { .. }
            | Self::OverLimit(_) => ExitCode::FAILURE,
        }
    }
}

fn indent_lines(items: &[impl ToString]) -> String {
    items.iter().map(|item| format!("  {}", item.to_string())).collect::<Vec<_>>().join("\n")
}
