//! Installs the servers written for Node.

use std::path::Path;

use super::{PackageSet, cache_folder};
use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// The oldest major version of Node that the packages support.
const OLDEST: u32 = 20;

/// A link to the Node that was found: a test runs in its own environment and must not search for Node.
pub(crate) const WITNESS: &str = "node";

/// Installs the servers and links the Node they run on.
pub(crate) fn install_set(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    let missing = ChoreError::Missing {
        program: "node",
        hint: "the fleet needs Node 20 or newer, see https://nodejs.org",
    };
    let node = find_node(OLDEST).ok_or(missing)?;
    install_packages(set, folder)?;
    link_node(folder, Path::new(&node))
}

/// Copies the pins into `folder` and installs exactly the pinned packages.
pub(crate) fn install_packages(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    for pin in set.pins {
        let source = workspace::workspace_root().join("fleet").join(pin);
        let path = folder.join(source.file_name().unwrap_or_default());
        std::fs::copy(&source, &path).map_err(ChoreError::file_error(&path))?;
    }
    // npm mistakes a folder that is reached through a link for a package.
    let folder = folder.canonicalize().map_err(ChoreError::file_error(folder))?;
    let prefix = folder.to_string_lossy();
    let arguments = ["ci", "--ignore-scripts", "--loglevel=error", "--prefix", &prefix];
    ChoreStep::program(find_npm()?, &arguments)
        .with_env("npm_config_cache", &cache_folder("npm").to_string_lossy())
        .run()
}

/// Links the set's Node at a fixed path.
pub(crate) fn link_node(folder: &Path, node: &Path) -> Result<(), ChoreError> {
    let link = folder.join(WITNESS);
    std::os::unix::fs::symlink(node, &link).map_err(ChoreError::file_error(&link))
}

/// The path of the Node on `PATH`, if it is recent enough: that of the program itself, not of a launcher in
/// front of it.
pub(crate) fn find_node(oldest: u32) -> Option<String> {
    let question = "process.versions.node + ' ' + process.execPath";
    let answer = ChoreStep::program("node".as_ref(), &["-p", question]).run_silently().unwrap_or_default();
    parse_usable_path(answer.trim_end(), oldest).map(str::to_owned)
}

/// The path in `20.1.0 /usr/bin/node`, if that version is recent enough.
pub(super) fn parse_usable_path(answer: &str, oldest: u32) -> Option<&str> {
    let (version, path) = answer.split_once(' ')?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major >= oldest).then_some(path)
}

fn find_npm() -> Result<&'static Path, ChoreError> {
    let npm = Path::new("npm");
    match ChoreStep::program(npm, &["--version"]).run_silently() {
        Some(_) => Ok(npm),
        None => {
            Err(ChoreError::Missing { program: "npm", hint: "it comes with Node, see https://nodejs.org" })
        }
    }
}
