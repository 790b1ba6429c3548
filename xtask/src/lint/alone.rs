//! Builds each crate separately: in a workspace build, a crate can depend on features that only another crate
//! enables.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::ChoreError;
use crate::step::ChoreStep;

/// The crates without I/O: their tests need only the crate itself.
const PURE_CRATES: [&str; 2] = ["mcparley-model", "mcparley-catalog"];

/// The library without its features: the tests of the smallest build, and its warnings.
const SMALLEST: [&[&str]; 3] = [
    &["clippy", "--quiet", "--package", "mcparley", "--no-default-features", "--", "--deny", "warnings"],
    &["build", "--quiet", "--package", "mcparley-testkit"],
    &["test", "--quiet", "--package", "mcparley", "--no-default-features", "--test", "stdio_only"],
];

/// The most packages that the smallest build of the library may consist of.
const SMALLEST_PACKAGES: usize = 90;

/// Checks each crate below `root/crates` without the others, runs the tests of the pure ones, and checks the
/// library without its features.
pub(super) fn check_crates(root: &Path) -> Result<(), ChoreError> {
    for name in package_names(root)? {
        ChoreStep::cargo(&["check", "--quiet", "--package", &name]).run()?;
    }
    for name in PURE_CRATES {
        ChoreStep::cargo(&["test", "--quiet", "--package", name, "--lib", "--tests"]).run()?;
    }
    for arguments in SMALLEST {
        ChoreStep::cargo(arguments).run()?;
    }
    count_smallest_packages()
}

/// Fails if the library without its features consists of too many packages.
fn count_smallest_packages() -> Result<(), ChoreError> {
    let tree = ["tree", "--package", "mcparley", "--edges", "normal", "--no-default-features"];
    let step = ChoreStep::cargo(&[&tree[..], &["--prefix", "none", "--no-dedupe"]].concat());
    let line = step.line().to_owned();
    let output = step.run_for_output()?;
    let packages: BTreeSet<&str> = output.lines().filter(|line| !line.is_empty()).collect();
    match packages.len() <= SMALLEST_PACKAGES {
        true => Ok(()),
        false => {
            eprintln!("the library without its features has {} packages", packages.len());
            Err(ChoreError::Silent { line, wanted: format!("at most {SMALLEST_PACKAGES} packages") })
        }
    }
}

/// The packages below `root/crates`, in the order of their folders.
fn package_names(root: &Path) -> Result<Vec<String>, ChoreError> {
    let crates = root.join("crates");
    let mut manifests = Vec::new();
    for entry in std::fs::read_dir(&crates).map_err(ChoreError::file_error(&crates))? {
        let entry = entry.map_err(ChoreError::file_error(&crates))?.path();
        // Between the crates there is the page that they share.
        if entry.is_dir() {
            manifests.push(entry.join("Cargo.toml"));
        }
    }
    manifests.sort();
    manifests.iter().map(|manifest| package_name(manifest)).collect()
}

fn package_name(manifest: &Path) -> Result<String, ChoreError> {
    let text = std::fs::read_to_string(manifest).map_err(ChoreError::file_error(manifest))?;
    let name = text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let silent = || ChoreError::Silent {
        line: manifest.display().to_string(),
        wanted: "its package's name".to_owned(),
    };
    name.map(str::to_owned).ok_or_else(silent)
}

#[cfg(test)]
mod tests {
    use super::{PURE_CRATES, package_names};
    use crate::workspace;

    #[test]
    fn every_crate_is_built_alone() {
        let names = package_names(workspace::workspace_root()).unwrap();
        assert!(names.iter().any(|name| name == "mcparley"), "{names:?}");
        assert!(PURE_CRATES.iter().all(|pure| names.iter().any(|name| name == pure)), "{names:?}");
    }
}
