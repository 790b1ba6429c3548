//! The programs that the benchmark measures beside mcparley, in the layout that `mcparley-bench --peers` expects.
//!
//! Command lines are those of the fleet, gateways a set of their own; all are pinned in `fleet/`, or by their version
//! here if they come from crates.io. A peer that cannot be installed on this machine is left out, and the page says so.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::fleet::{self, PackageSet, npm, python};
use crate::step::ChoreStep;
use crate::workspace;

/// The peers of the fleet: the folder in the layout, and the set that has the program.
const FLEET: [(&str, &str); 4] = [
    ("npm/mcporter", "mcporter"),
    ("npm/inspector", "inspector"),
    ("py/fastmcp", "fastmcp"),
    ("py/mcp", "servers"),
];

/// Gateways that are installed for the benchmark alone.
const GATEWAYS: [(&str, PackageSet); 2] = [
    (
        "npm/gateways",
        PackageSet {
            name: "npm-gateways",
            pins: &["gateways/.npmrc", "gateways/package.json", "gateways/package-lock.json"],
            witness: npm::WITNESS,
            install: npm::install_set,
        },
    ),
    (
        "py/mcp-proxy",
        PackageSet {
            name: "py-mcp-proxy",
            pins: &["requirements/mcp-proxy.txt"],
            witness: python::WITNESS,
            install: python::install_set,
        },
    ),
];

/// Gateways of crates.io: the folder in the layout, the crate and its version.
const CRATES: [(&str, &str, &str); 2] =
    [("cargo/mcp-gateway", "mcp-gateway", "2.19.0"), ("cargo/mcp-proxy", "mcp-proxy", "0.6.0")];

/// Installs a program of crates.io, unless this version is there.
fn install_crate(folder: &Path, (name, version): (&str, &str)) -> Result<(), ChoreError> {
    let installed = std::fs::read_to_string(folder.join(".crates.toml")).unwrap_or_default();
    if installed.contains(&format!("\"{name} {version} ")) && folder.join("bin").join(name).is_file() {
        return Ok(());
    }
    let root = folder.to_string_lossy();
    ChoreStep::cargo(&["install", name, "--version", version, "--locked", "--force", "--root", &root]).run()
}

/// Installs what can be installed; the folder for `--peers`, and the peers that are missing with the reason.
pub(super) fn install_peers() -> Result<(PathBuf, Vec<String>), ChoreError> {
    let tools = workspace::workspace_root().join(".tools");
    let folder = tools.join("peers");
    let mut missing = Vec::new();
    fleet::install_fleet()?;
    for (place, set) in FLEET {
        link(&tools.join("fleet").join(set), &folder.join(place))?;
    }
    let pins = workspace::workspace_root().join("fleet");
    for (place, set) in &GATEWAYS {
        if let Err(error) = set.install_if_stale(&pins, &folder.join(place)) {
            missing.push(format!("`{}`: {error}", set.name));
        }
    }
    for (place, name, version) in CRATES {
        if let Err(error) = install_crate(&folder.join(place), (name, version)) {
            missing.push(format!("`{name}` {version} of crates.io: {error}"));
        }
    }
    Ok((folder, missing))
}

/// Makes `link` a symbolic link to `target`.
fn link(target: &Path, link: &Path) -> Result<(), ChoreError> {
    let folder = link.parent().unwrap_or(link);
    std::fs::create_dir_all(folder).map_err(ChoreError::file_error(folder))?;
    if std::fs::read_link(link).is_ok_and(|found| found == target) {
        return Ok(());
    }
    match std::fs::remove_file(link) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ChoreError::file_error(link)(error))
        }
        _ => std::os::unix::fs::symlink(target, link).map_err(ChoreError::file_error(link)),
    }
}
