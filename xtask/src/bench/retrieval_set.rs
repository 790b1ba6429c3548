//! Installs the public questions that tool search is measured with, below `.tools/retrieval`.
//!
//! The package is pinned like the fleet. Only its data are read: its dependencies are not installed, and none
//! of its code runs.

use std::path::PathBuf;

use crate::error::ChoreError;
use crate::fleet::{PackageSet, lock_file, python};
use crate::workspace;

const SET: PackageSet = PackageSet {
    name: "bfcl",
    pins: &["requirements/retrieval.txt"],
    witness: "packages/bfcl_eval/data",
    install: python::install_data,
};

/// Installs the package unless it is already installed as pinned; returns the folder of its files.
pub(super) fn install_set() -> Result<PathBuf, ChoreError> {
    let root = workspace::workspace_root();
    let folder = root.join(".tools/retrieval");
    std::fs::create_dir_all(&folder).map_err(ChoreError::file_error(&folder))?;
    let _alone = lock_file(&folder.join("lock"))?;
    SET.install_if_stale(&root.join("fleet"), &folder.join(SET.name))?;
    Ok(folder.join(SET.name).join(python::PACKAGES))
}
