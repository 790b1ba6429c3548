//! Keeps a file with secrets out of commits: a line in `.git/info/exclude`.
//!
//! That file belongs to this copy of the repository alone, so nothing of it is shared.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use mcparley_platform::file::{self, Creation, UpdateError};

use crate::sources::{git_dir, is_tracked};

/// The file is written by people and a few programs.
const EXCLUDE_BYTES: u64 = 1024 * 1024;

/// What was done so that git leaves a file out of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// The folder is no git repository.
    NoRepository,
    /// Git tracks the file already, so that excluding it would change nothing.
    Tracked,
    /// The line stood there before.
    Present(PathBuf),
    /// The line was added to this file.
    Added(PathBuf),
    /// The file could not be changed.
    Failed {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Has git leave `path` (with `/`) of the working tree at `root` out of commits.
pub(super) fn exclude_from_git(root: &Path, path: &str) -> Exclusion {
    let Some(common) = git_dir(root).map(common_dir).filter(|dir| is_repository(dir)) else {
        return Exclusion::NoRepository;
    };
    if is_tracked(root, path) {
        return Exclusion::Tracked;
    }
    let file = common.join("info/exclude");
    let line = format!("/{path}");
    let mut is_present = false;
    let updated = file::update(&file, Creation::SHARED, EXCLUDE_BYTES, |text| {
        let text = text.unwrap_or_default();
        is_present = text.lines().any(|known| known.trim_end() == line);
        Ok::<_, Infallible>(if is_present { text.to_owned() } else { with_line(text, &line) })
    });
    match updated {
        Ok(_) if is_present => Exclusion::Present(file),
        Ok(_) => Exclusion::Added(file),
        Err(UpdateError::Read(error)) => Exclusion::Failed { file, reason: error.to_string() },
        Err(UpdateError::Write(error)) => Exclusion::Failed { file, reason: error.to_string() },
        Err(UpdateError::Refused(never)) => match never {},
    }
}

/// The folder that all working trees of a repository share.
fn common_dir(git_dir: PathBuf) -> PathBuf {
    match file::read(&git_dir.join("commondir"), 4096) {
        Ok(Some(pointer)) => git_dir.join(pointer.text.trim()),
        // Only further working trees have that file.
        Ok(None) | Err(_) => git_dir,
    }
}

/// Whether the folder is one that git made: a `.git` that points anywhere else is not written to.
fn is_repository(git_dir: &Path) -> bool {
    git_dir.join("HEAD").is_file() && git_dir.join("objects").is_dir()
}

fn with_line(text: &str, line: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}
