//! The pinned conformance suite, and the Node it runs on.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::fleet::{PackageSet, lock_file, node, npm};
use crate::step::ChoreStep;
use crate::workspace;

const SUITE: PackageSet = PackageSet {
    name: "suite",
    pins: &["conformance/.npmrc", "conformance/package.json", "conformance/package-lock.json"],
    witness: npm::WITNESS,
    install: |set, folder| {
        let node = node::find_or_install_node()?;
        npm::install_packages(set, folder)?;
        npm::link_node(folder, &node)
    },
};

/// The installed conformance suite.
#[derive(Debug)]
pub(super) struct ConformanceSuite {
    folder: PathBuf,
}

impl ConformanceSuite {
    /// Installs the suite unless it is already installed as pinned.
    pub(super) fn install() -> Result<Self, ChoreError> {
        let folder = suite_folder();
        std::fs::create_dir_all(&folder).map_err(ChoreError::file_error(&folder))?;
        let _alone = lock_file(&folder.join("lock"))?;
        SUITE.install_if_stale(&pins_folder(), &folder.join(SUITE.name))?;
        Ok(Self { folder })
    }

    /// The path of the Node it runs on.
    pub(super) fn node(&self) -> PathBuf {
        self.folder.join(SUITE.name).join(npm::WITNESS)
    }

    /// The path of the suite's program.
    pub(super) fn program(&self) -> PathBuf {
        let package = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
        self.folder.join(SUITE.name).join(package)
    }

    /// The path of the client that renames tools, prompts and addresses.
    pub(super) fn renaming_client(&self) -> PathBuf {
        pins_folder().join("conformance/renaming-client.mjs")
    }

    /// The folder with the output of the scenarios, kept until the next run.
    pub(super) fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// Prints the scenarios that a revision requires.
    pub(super) fn list_requirements(&self, revision: &str) -> Result<String, ChoreError> {
        let program = self.program();
        ChoreStep::program(&self.node(), &[&program.to_string_lossy(), "list", "--requirements", revision])
            .run_for_output()
    }
}

fn suite_folder() -> PathBuf {
    workspace::workspace_root().join(".tools/conformance")
}

fn pins_folder() -> PathBuf {
    Path::new(workspace::workspace_root()).join("fleet")
}
