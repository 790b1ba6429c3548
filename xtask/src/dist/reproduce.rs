//! Builds the commit a second time in another folder, and compares everything that was packed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{BuildOptions, Release, file_digest, remove_folder};
use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// Fails if a file of the workspace is not as it was committed: the second build has the commit alone.
pub(super) fn require_commit() -> Result<(), ChoreError> {
    let status = ChoreStep::program("git".as_ref(), &["status", "--porcelain"]).run_for_output()?;
    match status.is_empty() {
        true => Ok(()),
        false => Err(ChoreError::Uncommitted { files: status.lines().count() }),
    }
}

/// Builds and packs the commit in a clone, and fails if one file differs from the first build.
pub(super) fn compare_with_second_build(first: &Release, options: &BuildOptions) -> Result<(), ChoreError> {
    let clone = clone_commit(&first.folder.with_file_name("reproduced-in-another-folder"))?;
    let second = Release::build(&clone, options)?;
    second.pack_all()?;
    let differing = differing_files(&first.folder, &second.folder)?;
    if !differing.is_empty() {
        return Err(ChoreError::NotReproducible { files: differing.join(", "), second: second.folder });
    }
    println!("the same in `{}`", clone.display());
    remove_folder(&clone)
}

/// Clones the commit of the workspace into an empty folder.
fn clone_commit(folder: &Path) -> Result<PathBuf, ChoreError> {
    remove_folder(folder)?;
    let (from, to) = (workspace::workspace_root().to_string_lossy(), folder.to_string_lossy());
    ChoreStep::program("git".as_ref(), &["clone", "--quiet", "--shared", &from, &to]).run()?;
    Ok(folder.to_owned())
}

/// The packed files that one of the folders lacks or that have other bytes, by their path below the folder.
fn differing_files(first: &Path, second: &Path) -> Result<Vec<String>, ChoreError> {
    let files: BTreeSet<PathBuf> = packed_files(first)?.into_iter().chain(packed_files(second)?).collect();
    let mut differing = Vec::new();
    for file in files {
        let (one, other) = (first.join(&file), second.join(&file));
        let is_same = one.is_file() && other.is_file() && file_digest(&one)? == file_digest(&other)?;
        if !is_same {
            differing.push(file.display().to_string());
        }
    }
    Ok(differing)
}

/// The files below a folder of packages, without the cache that npm keeps there.
fn packed_files(root: &Path) -> Result<Vec<PathBuf>, ChoreError> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(ChoreError::file_error(&folder))? {
            let path = entry.map_err(ChoreError::file_error(&folder))?.path();
            match path.is_dir() {
                true if path.ends_with("npm-cache") => {}
                true => folders.push(path),
                false => found.push(path.strip_prefix(root).unwrap_or(&path).to_owned()),
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::differing_files;
    use crate::dist::write_file;

    #[test]
    fn files_that_differ_or_are_missing_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for (side, program) in [(&first, "one"), (&second, "other")] {
            write_file(&side.join("npm-cache/index"), program).unwrap();
            write_file(&side.join("SHA256SUMS"), "sums").unwrap();
            write_file(&side.join("npm/bin/mcparley"), program).unwrap();
        }
        write_file(&second.join("more.tgz"), "").unwrap();
        assert_eq!(differing_files(&first, &second).unwrap(), ["more.tgz", "npm/bin/mcparley"]);
        assert!(differing_files(&first, &first).unwrap().is_empty());
    }
}
