//! Records the git commit that the program is built from, for `mcparley --version`.
//!
//! Only a release records it: other builds would compile the crate again after each commit. Reads the files of
//! the repository and runs no program. A package of a registry is outside of a repository: there the commit is
//! in the file that cargo packs. Elsewhere, as in a source archive, no commit is recorded.

use std::fs;
use std::path::{Path, PathBuf};

/// The number of digits of a commit that identify it.
const SHORT: usize = 10;

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let commit = is_release().then(|| read_packaged_commit(package).or_else(|| read_git_commit(package)));
    let commit = commit.flatten().and_then(|commit| shorten_commit(&commit));
    let suffix = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    emit(&format!("rustc-env=MCPARLEY_COMMIT={suffix}"));
    // Cargo runs a script that names no file again after every change in the package.
    emit("rerun-if-changed=build.rs");
}

#[expect(clippy::disallowed_methods, reason = "cargo tells build scripts the profile in a variable")]
fn is_release() -> bool {
    std::env::var("PROFILE").is_ok_and(|profile| profile == "release")
}

/// Reads the commit that cargo noted in the package: `{"git": {"sha1": "…"}, …}`.
fn read_packaged_commit(package: &Path) -> Option<String> {
    let note = read_text(&package.join(".cargo_vcs_info.json"))?;
    let (_, behind) = note.split_once("\"sha1\"")?;
    behind.split('"').nth(1).map(str::to_owned)
}

fn read_git_commit(package: &Path) -> Option<String> {
    GitFolder::find(package)?.read_commit()
}

/// The first digits of a commit; `None` for a text that is none.
fn shorten_commit(commit: &str) -> Option<String> {
    let is_commit = commit.len() >= SHORT && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| commit.get(..SHORT).map(str::to_owned)).flatten()
}

/// The folders of a git repository.
struct GitFolder {
    /// The folder with `HEAD`, which each work tree has for itself.
    own: PathBuf,
    /// The folder with the branches, which all work trees share.
    shared: PathBuf,
}

impl GitFolder {
    /// Finds the repository that this package is a part of: its root is two folders above the package.
    fn find(package: &Path) -> Option<Self> {
        let dot_git = package.parent()?.parent()?.join(".git");
        // In a linked work tree `.git` is a file that names the folder.
        let own = match read_line(&dot_git) {
            Some(line) => dot_git.parent()?.join(line.strip_prefix("gitdir: ")?),
            None => dot_git,
        };
        let shared = read_line(&own.join("commondir")).map_or_else(|| own.clone(), |path| own.join(path));
        Some(Self { own, shared })
    }

    /// Reads the commit of `HEAD`, and asks cargo to watch the files that it came from.
    fn read_commit(&self) -> Option<String> {
        let head = read_watched(&self.own.join("HEAD"))?;
        match head.trim().strip_prefix("ref: ") {
            None => Some(head.trim().to_owned()),
            Some(branch) => match read_watched(&self.shared.join(branch)) {
                Some(commit) => Some(commit.trim().to_owned()),
                None => find_packed(&read_watched(&self.shared.join("packed-refs"))?, branch),
            },
        }
    }
}

fn find_packed(refs: &str, branch: &str) -> Option<String> {
    let mut pairs = refs.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(_, name)| *name == branch).map(|(commit, _)| commit.to_owned())
}

fn read_line(path: &Path) -> Option<String> {
    read_text(path).map(|text| text.trim().to_owned())
}

/// Reads a file that cargo watches. A missing file is not watched: cargo would run this script each time.
fn read_watched(path: &Path) -> Option<String> {
    let text = read_text(path)?;
    emit(&format!("rerun-if-changed={}", path.display()));
    Some(text)
}

#[expect(clippy::disallowed_methods, reason = "the files of the repository are small and trusted")]
fn read_text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn emit(instruction: &str) {
    println!("cargo::{instruction}");
}
