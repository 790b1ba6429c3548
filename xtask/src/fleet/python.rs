//! Installs the servers written for Python, each set into its own virtual environment.

use std::path::Path;

use super::{PackageSet, cache_folder};
use crate::error::ChoreError;
use crate::step::ChoreStep;

/// The program names to try, in this order; the last may be any version.
const NAMES: [&str; 4] = ["python3.13", "python3.12", "python3.11", "python3"];

/// The check for a usable Python: some systems ship it without the modules that create an environment.
const IS_USABLE: &str = "import sys, venv, ensurepip; print(sys.version_info >= (3, 10))";

/// A link to the interpreter, which dangles once the interpreter is removed.
pub(crate) const WITNESS: &str = "bin/python";

/// The folder of packages that are installed for their data.
pub(crate) const PACKAGES: &str = "packages";

/// The command that installs packages and nothing that they depend on.
const INSTALL: [&str; 5] = ["install", "--quiet", "--no-input", "--no-deps", "--only-binary=:all:"];

/// Creates an environment in `folder` and installs exactly the pinned packages.
pub(crate) fn install_set(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    ChoreStep::program(find_python()?, &["-m", "venv", &folder.to_string_lossy()]).run()?;
    let python = folder.join(WITNESS);
    for pin in set.pins {
        let file = format!("fleet/{pin}");
        run_pip(&python, &[&INSTALL, &["--requirement", &file][..]].concat())?;
    }
    // Verifies that the pins are complete: no dependency is missing.
    run_pip(&python, &["check"])
}

/// Installs exactly the pinned packages for their data, without the dependencies of their code.
pub(crate) fn install_data(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    ChoreStep::program(find_python()?, &["-m", "venv", &folder.join("venv").to_string_lossy()]).run()?;
    let python = folder.join("venv").join(WITNESS);
    let packages = folder.join(PACKAGES);
    for pin in set.pins {
        let file = format!("fleet/{pin}");
        run_pip(
            &python,
            &[&INSTALL, &["--target", &packages.to_string_lossy(), "--requirement", &file][..]].concat(),
        )?;
    }
    Ok(())
}

fn run_pip(python: &Path, arguments: &[&str]) -> Result<(), ChoreError> {
    let arguments = [&["-m", "pip", "--disable-pip-version-check"], arguments].concat();
    ChoreStep::program(python, &arguments)
        .with_env("PIP_CACHE_DIR", &cache_folder("pip").to_string_lossy())
        .run()
}

fn find_python() -> Result<&'static Path, ChoreError> {
    let is_usable = |name: &&&str| {
        let answer = ChoreStep::program(name.as_ref(), &["-c", IS_USABLE]).run_silently();
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
