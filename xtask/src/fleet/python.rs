//! Installs the servers written for Python, each set into an environment of its own.

use std::path::Path;

use super::{Set, cache};
use crate::error::ChoreError;
use crate::step::Step;

/// Looked for in this order; the last is whatever the machine calls by that name.
const NAMES: [&str; 4] = ["python3.13", "python3.12", "python3.11", "python3"];

/// Some systems ship Python without the modules that make an environment.
const IS_USABLE: &str = "import sys, venv, ensurepip; print(sys.version_info >= (3, 10))";

/// A link to the interpreter: it leads nowhere once that is removed.
pub(super) const WITNESS: &str = "bin/python";

/// Makes an environment in `folder` and installs exactly what the pins name.
pub(super) fn install(set: &Set, folder: &Path) -> Result<(), ChoreError> {
    Step::program(usable()?, &["-m", "venv", &folder.to_string_lossy()]).run()?;
    let python = folder.join(WITNESS);
    let pip = |arguments: &[&str]| {
        let arguments = [&["-m", "pip", "--disable-pip-version-check"], arguments].concat();
        Step::program(&python, &arguments).env("PIP_CACHE_DIR", &cache("pip").to_string_lossy()).run()
    };
    for pin in set.pins {
        let file = format!("fleet/{pin}");
        pip(&[
            "install",
            "--quiet",
            "--no-input",
            "--no-deps",
            "--only-binary=:all:",
            "--requirement",
            &file,
        ])?;
    }
    // Whether the pins are complete: nothing was installed that they do not name.
    pip(&["check"])
}

fn usable() -> Result<&'static Path, ChoreError> {
    let is_usable = |name: &&&str| {
        let answer = Step::program(name.as_ref(), &["-c", IS_USABLE]).probe();
        answer.is_some_and(|text| text.trim_end() == "True")
    };
    match NAMES.iter().find(is_usable) {
        Some(name) => Ok(Path::new(name)),
        None => Err(ChoreError::Missing {
            program: "python3",
            hint: "the fleet needs Python 3.10 or newer with its `venv` module (Debian: `python3-venv`)",
        }),
    }
}
