//! `cargo xtask fleet`: installs the third-party servers and clients that tests talk to, below
//! `.tools/fleet`.
//!
//! They and all their dependencies are pinned by the files in `fleet/`. A set is reinstalled when its pins
//! change and is otherwise left alone, so that repeated runs cost nothing. No code of a package runs during
//! the installation. Caches stay below `.tools`, so that no home folder is needed.

mod browser;
mod debian;
pub(crate) mod node;
pub(crate) mod npm;
pub(crate) mod python;

use std::fs::File;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::ChoreError;
use crate::workspace;

/// A set of packages that are installed together.
#[derive(Debug)]
pub(crate) struct PackageSet {
    /// The folder of the set in `.tools/fleet`.
    pub(crate) name: &'static str,
    /// The files in `fleet/` that pin its packages.
    pub(crate) pins: &'static [&'static str],
    /// A file of the installed set that disappears with the interpreter it was installed for.
    pub(crate) witness: &'static str,
    pub(crate) install: fn(&PackageSet, &Path) -> Result<(), ChoreError>,
}

const SETS: [PackageSet; 10] = [
    PackageSet {
        name: "npm",
        pins: &[".npmrc", "package.json", "package-lock.json"],
        witness: npm::WITNESS,
        install: npm::install_set,
    },
    PackageSet {
        name: "inspector",
        pins: &["inspector/.npmrc", "inspector/package.json", "inspector/package-lock.json"],
        witness: npm::WITNESS,
        install: node::install_set,
    },
    PackageSet {
        name: "apps",
        pins: &["apps/.npmrc", "apps/package.json", "apps/package-lock.json"],
        witness: npm::WITNESS,
        install: node::install_set,
    },
    PackageSet {
        name: "mcporter",
        pins: &["mcporter/.npmrc", "mcporter/package.json", "mcporter/package-lock.json"],
        witness: npm::WITNESS,
        install: node::install_set,
    },
    PackageSet {
        name: "clients",
        pins: &["clients/.npmrc", "clients/package.json", "clients/package-lock.json"],
        witness: npm::WITNESS,
        install: npm::install_set,
    },
    PackageSet {
        name: "browser",
        pins: &["browser/.npmrc", "browser/package.json", "browser/package-lock.json", "browser/unpack.mjs"],
        witness: "chromium/chromium",
        install: browser::install_set,
    },
    PackageSet {
        name: "debian",
        pins: &["debian/packages.txt"],
        witness: debian::WITNESS,
        install: debian::install_set,
    },
    PackageSet {
        name: "servers",
        pins: &["requirements/servers.txt"],
        witness: python::WITNESS,
        install: python::install_set,
    },
    PackageSet {
        name: "fastmcp",
        pins: &["requirements/fastmcp.txt"],
        witness: python::WITNESS,
        install: python::install_set,
    },
    PackageSet {
        name: "ws",
        pins: &["requirements/ws.txt"],
        witness: python::WITNESS,
        install: python::install_set,
    },
];

/// Installs the sets that are missing or differ from their pins.
pub(crate) fn install_fleet() -> Result<(), ChoreError> {
    let fleet = workspace::workspace_root().join(".tools/fleet");
    std::fs::create_dir_all(&fleet).map_err(ChoreError::file_error(&fleet))?;
    let _alone = lock_file(&fleet.join("lock"))?;
    for set in &SETS {
        set.install_if_stale(&workspace::workspace_root().join("fleet"), &fleet.join(set.name))?;
    }
    Ok(())
}

impl PackageSet {
    /// Installs the set into `folder`, unless it is already there as the pins below `source` say.
    pub(crate) fn install_if_stale(&self, source: &Path, folder: &Path) -> Result<(), ChoreError> {
        let wanted = self.compute_stamp(source, folder)?;
        let stamp = folder.join("stamp");
        if self.is_installed(folder, &wanted) {
            return Ok(());
        }
        eprintln!("the set `{}` differs from its pins: installing it into `.tools`", self.name);
        remove_folder(folder)?;
        std::fs::create_dir_all(folder).map_err(ChoreError::file_error(folder))?;
        (self.install)(self, folder)?;
        // The stamp is written last, so that an interrupted installation counts as none.
        std::fs::write(&stamp, wanted).map_err(ChoreError::file_error(&stamp))
    }

    /// Whether the folder carries this stamp and its interpreter still exists.
    fn is_installed(&self, folder: &Path, wanted: &str) -> bool {
        let stamped = std::fs::read_to_string(folder.join("stamp"));
        stamped.is_ok_and(|text| text == wanted) && folder.join(self.witness).exists()
    }

    /// A hash of the pins and the path: a Python environment contains its own path and cannot be moved.
    fn compute_stamp(&self, source: &Path, folder: &Path) -> Result<String, ChoreError> {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(folder.as_os_str().as_encoded_bytes());
        for pin in self.pins {
            let path = source.join(pin);
            add(&std::fs::read(&path).map_err(ChoreError::file_error(&path))?);
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Takes an advisory lock, released when dropped: two chores must not install into the same folder at once.
pub(crate) fn lock_file(path: &Path) -> Result<File, ChoreError> {
    let file = File::create(path).map_err(ChoreError::file_error(path))?;
    file.lock().map_err(ChoreError::file_error(path))?;
    Ok(file)
}

fn remove_folder(folder: &Path) -> Result<(), ChoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ChoreError::file_error(folder)(error))
        }
        _ => Ok(()),
    }
}

/// The download cache of an installer.
fn cache_folder(installer: &str) -> PathBuf {
    workspace::workspace_root().join(".tools/cache").join(installer)
}

#[cfg(test)]
mod tests;
