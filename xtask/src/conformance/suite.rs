//! The suite as it is pinned, and the Node it runs on.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::fleet::{Set, lock, node, npm};
use crate::step::Step;
use crate::workspace;

const SUITE: Set = Set {
    name: "suite",
    pins: &["conformance/.npmrc", "conformance/package.json", "conformance/package-lock.json"],
    witness: npm::WITNESS,
    install: |set, folder| {
        let node = node::modern()?;
        npm::place(set, folder)?;
        npm::link(folder, &node)
    },
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

fn home() -> PathBuf {
    workspace::root().join(".tools/conformance")
}

fn pins() -> PathBuf {
    Path::new(workspace::root()).join("fleet")
}
