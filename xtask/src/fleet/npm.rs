//! Installs the servers written for Node.

use std::path::Path;

use super::{Set, cache};
use crate::error::ChoreError;
use crate::step::Step;
use crate::workspace;

/// The oldest Node that the packages run on.
const OLDEST: u32 = 20;

/// A link to the Node that was found: a test has its own environment and must not look for one.
pub(crate) const WITNESS: &str = "node";

/// Installs the servers and links the Node they run on.
pub(super) fn install(set: &Set, folder: &Path) -> Result<(), ChoreError> {
    let missing = ChoreError::Missing {
        program: "node",
        hint: "the fleet needs Node 20 or newer, see https://nodejs.org",
    };
    let node = node(OLDEST).ok_or(missing)?;
    place(set, folder)?;
    link(folder, Path::new(&node))
}

/// Copies the pins into `folder` and installs exactly what they name.
pub(crate) fn place(set: &Set, folder: &Path) -> Result<(), ChoreError> {
    for pin in set.pins {
        let source = workspace::root().join("fleet").join(pin);
        let path = folder.join(source.file_name().unwrap_or_default());
        std::fs::copy(&source, &path).map_err(ChoreError::file(&path))?;
    }
    // npm takes a folder that is reached through a link for a package of its own.
    let folder = folder.canonicalize().map_err(ChoreError::file(folder))?;
    let prefix = folder.to_string_lossy();
    let arguments = ["ci", "--ignore-scripts", "--loglevel=error", "--prefix", &prefix];
    Step::program(npm()?, &arguments).env("npm_config_cache", &cache("npm").to_string_lossy()).run()
}

/// Makes the set's Node easy to find.
pub(crate) fn link(folder: &Path, node: &Path) -> Result<(), ChoreError> {
    let link = folder.join(WITNESS);
    std::os::unix::fs::symlink(node, &link).map_err(ChoreError::file(&link))
}

/// The path of the Node that `PATH` leads to, if it is new enough; that of the program itself, not of a launcher
/// in front of it.
pub(crate) fn node(oldest: u32) -> Option<String> {
    let question = "process.versions.node + ' ' + process.execPath";
    let answer = Step::program("node".as_ref(), &["-p", question]).probe().unwrap_or_default();
    path_of_usable(answer.trim_end(), oldest).map(str::to_owned)
}

/// The path in `20.1.0 /usr/bin/node`, if that version will do.
pub(super) fn path_of_usable(answer: &str, oldest: u32) -> Option<&str> {
    let (version, path) = answer.split_once(' ')?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major >= oldest).then_some(path)
}

fn npm() -> Result<&'static Path, ChoreError> {
    let npm = Path::new("npm");
    match Step::program(npm, &["--version"]).probe() {
        Some(_) => Ok(npm),
        None => {
            Err(ChoreError::Missing { program: "npm", hint: "it comes with Node, see https://nodejs.org" })
        }
    }
}
