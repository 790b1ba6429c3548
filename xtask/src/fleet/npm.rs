//! Installs the servers written for Node.

use std::path::Path;

use super::{Set, cache};
use crate::error::ChoreError;
use crate::step::Step;
use crate::workspace;

/// The oldest Node that the packages run on.
const OLDEST: u32 = 20;

/// A link to the Node that was found: a test has its own environment and must not look for one.
pub(super) const WITNESS: &str = "node";

/// Copies the pins into `folder` and installs exactly what they name.
pub(super) fn install(set: &Set, folder: &Path) -> Result<(), ChoreError> {
    let node = node()?;
    for pin in set.pins {
        let path = folder.join(pin);
        std::fs::copy(workspace::root().join("fleet").join(pin), &path).map_err(ChoreError::file(&path))?;
    }
    let prefix = folder.to_string_lossy();
    let arguments = ["ci", "--ignore-scripts", "--loglevel=error", "--prefix", &prefix];
    Step::program(npm()?, &arguments).env("npm_config_cache", &cache("npm").to_string_lossy()).run()?;
    let link = folder.join(WITNESS);
    std::os::unix::fs::symlink(node, &link).map_err(ChoreError::file(&link))
}

/// The path of the Node that `PATH` leads to; that of the program itself, not of a launcher in front of it.
fn node() -> Result<String, ChoreError> {
    let question = "process.versions.node + ' ' + process.execPath";
    let answer = Step::program("node".as_ref(), &["-p", question]).probe().unwrap_or_default();
    match path_of_usable(answer.trim_end()) {
        Some(path) => Ok(path.to_owned()),
        None => Err(ChoreError::Missing {
            program: "node",
            hint: "the fleet needs Node 20 or newer, see https://nodejs.org",
        }),
    }
}

/// The path in `20.1.0 /usr/bin/node`, if that version will do.
pub(super) fn path_of_usable(answer: &str) -> Option<&str> {
    let (version, path) = answer.split_once(' ')?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major >= OLDEST).then_some(path)
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
