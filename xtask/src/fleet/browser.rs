//! Installs the browser with which tests use the web page: Chromium and its driver, from npm packages.

use std::path::Path;

use super::{PackageSet, npm};
use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// Installs the packages, and unpacks the browser with a script of ours: no code of a package runs.
pub(super) fn install_set(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    npm::install_set(set, folder)?;
    let script = workspace::workspace_root().join("fleet/browser/unpack.mjs");
    let (script, folder) = (script.to_string_lossy(), folder.to_string_lossy().into_owned());
    ChoreStep::program(&Path::new(&folder).join(npm::WITNESS), &[&script, &folder]).run()
}
