//! Git exclusion: keeps a file with secrets out of commits by a line in `.git/info/exclude`.
//!
//! That file belongs to this clone alone and is never committed.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use mcparley_platform::file::{self, Creation, FileUpdateError};

use crate::sources::{git_dir, is_tracked};

/// Size limit of the exclude file, which people and a few programs write.
const EXCLUDE_BYTES: u64 = 1024 * 1024;

/// The outcome of excluding a file from commits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GitExclusion {
    /// The folder is not a git repository.
    NoRepository,
    /// Git already tracks the file, so an exclusion would have no effect.
    Tracked,
    /// The line was already in this file.
    Present(PathBuf),
    /// The line was added to this file.
    Added(PathBuf),
    /// The file could not be changed.
    Failed {
        /// The exclude file.
        file: PathBuf,
        /// The error.
        reason: String,
    },
}

/// Excludes `path` (with `/`) of the working tree at `root` from commits.
pub(super) fn exclude_from_git(root: &Path, path: &str) -> GitExclusion {
    let Some(common) = git_dir(root).map(common_dir).filter(|dir| is_repository(dir)) else {
        return GitExclusion::NoRepository;
    };
    if is_tracked(root, path) {
        return GitExclusion::Tracked;
    }
    let file = common.join("info/exclude");
    let line = format!("/{path}");
    let mut is_present = false;
    let updated = file::update_file(&file, Creation::SHARED, EXCLUDE_BYTES, |text| {
        let text = text.unwrap_or_default();
        is_present = text.lines().any(|known| known.trim_end() == line);
        Ok::<_, Infallible>(if is_present { text.to_owned() } else { with_line(text, &line) })
    });
    match updated {
        Ok(_) if is_present => GitExclusion::Present(file),
        Ok(_) => GitExclusion::Added(file),
        Err(FileUpdateError::Read(error)) => GitExclusion::Failed { file, reason: error.to_string() },
        Err(FileUpdateError::Write(error)) => GitExclusion::Failed { file, reason: error.to_string() },
        Err(FileUpdateError::Refused(never)) => match never {},
    }
}

/// The common git directory, which all working trees of a repository share.
fn common_dir(git_dir: PathBuf) -> PathBuf {
    match file::read_text(&git_dir.join("commondir"), 4096) {
        Ok(Some(pointer)) => git_dir.join(pointer.text.trim()),
        // Only linked working trees have that file.
        Ok(None) | Err(_) => git_dir,
    }
}

/// Whether the folder was created by git: a `.git` that points anywhere else is not written to.
fn is_repository(git_dir: &Path) -> bool {
    git_dir.join("HEAD").is_file() && git_dir.join("objects").is_dir()
}

fn with_line(text: &str, line: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}
