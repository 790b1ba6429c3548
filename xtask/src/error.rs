//! Why a chore failed, and with which exit code it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::bench::OverLimit;
use crate::generate::Drift;
use crate::lint::tree::Finding;

/// A chore that cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChoreError {
    #[error("`{line}` cannot be started: {source}")]
    Start { line: String, source: io::Error },
    #[error("`{line}` failed with exit code {code}")]
    Step { line: String, code: u8 },
    #[error("`{line}` was ended by a signal")]
    Signal { line: String },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("a page cannot be rendered: {0}")]
    Render(#[source] io::Error),
    #[error("the tree is not in order:\n{}", lines(.0))]
    Tree(Vec<Finding>),
    #[error("generated pages differ from the code:\n{}\nhint: run `cargo xtask generate`", lines(.0))]
    Drift(Vec<Drift>),
    #[error("`{line}` printed nothing about {wanted}")]
    Silent { line: String, wanted: String },
    #[error("`{program}` is missing or too old\nhint: {hint}")]
    Missing { program: &'static str, hint: &'static str },
    #[error("the suite lists {found} scenarios for {selection}, and {expected} were expected")]
    Scenarios { selection: &'static str, expected: usize, found: usize },
    #[error("{failed} of {all} scenarios failed; what was said is below `{}`", results.display())]
    Conformance { failed: usize, all: usize, results: PathBuf },
    #[error("over the limit:\n{}", lines(.0))]
    OverLimit(Vec<OverLimit>),
}

impl ChoreError {
    /// For `map_err` after work on `path`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// A failed step's own code; everything else is 1.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Step { code, .. } => ExitCode::from(*code),
            Self::Start { .. }
            | Self::Signal { .. }
            | Self::File { .. }
            | Self::Render(_)
            | Self::Tree(_)
            | Self::Drift(_)
            | Self::Silent { .. }
            | Self::Missing { .. }
            | Self::Scenarios { .. }
            | Self::Conformance { .. }
            | Self::OverLimit(_) => ExitCode::FAILURE,
        }
    }
}

fn lines(items: &[impl ToString]) -> String {
    items.iter().map(|item| format!("  {}", item.to_string())).collect::<Vec<_>>().join("\n")
}
