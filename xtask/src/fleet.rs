//! `cargo xtask fleet`: the third-party servers and clients that tests talk to, below `.tools/fleet`.
//!
//! Which ones, and every package they need, is pinned by the files in `fleet/`. A set is installed anew when
//! its pins change and is otherwise left alone, so that asking costs nothing. No code of a package runs while
//! it is installed. Caches stay below `.tools`, so that a home need not exist.

pub(crate) mod node;
pub(crate) mod npm;
mod python;

use std::fs::File;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::ChoreError;
use crate::workspace;

/// Packages that are installed together.
#[derive(Debug)]
pub(crate) struct Set {
    /// Its folder in `.tools/fleet`.
    pub(crate) name: &'static str,
    /// The files in `fleet/` that say what belongs to it.
    pub(crate) pins: &'static [&'static str],
    /// A file of the finished set that goes away with the interpreter it was installed for.
    pub(crate) witness: &'static str,
    pub(crate) install: fn(&Set, &Path) -> Result<(), ChoreError>,
}

const SETS: [Set; 5] = [
    Set {
        name: "npm",
        pins: &[".npmrc", "package.json", "package-lock.json"],
        witness: npm::WITNESS,
        install: npm::install,
    },
    Set {
        name: "inspector",
        pins: &["inspector/.npmrc", "inspector/package.json", "inspector/package-lock.json"],
        witness: npm::WITNESS,
        install: node::install,
    },
    Set {
        name: "servers",
        pins: &["requirements/servers.txt"],
        witness: python::WITNESS,
        install: python::install,
    },
    Set {
        name: "fastmcp",
        pins: &["requirements/fastmcp.txt"],
        witness: python::WITNESS,
        install: python::install,
    },
    Set { name: "ws", pins: &["requirements/ws.txt"], witness: python::WITNESS, install: python::install },
];

/// Installs what is missing or differs from its pins.
pub(crate) fn run() -> Result<(), ChoreError> {
    let fleet = workspace::root().join(".tools/fleet");
    std::fs::create_dir_all(&fleet).map_err(ChoreError::file(&fleet))?;
    let _alone = lock(&fleet.join("lock"))?;
    for set in &SETS {
        set.bring_up_to_date(&workspace::root().join("fleet"), &fleet.join(set.name))?;
    }
    Ok(())
}

impl Set {
    /// Installs it into `folder`, if it is not there as the pins below `source` say.
    pub(crate) fn bring_up_to_date(&self, source: &Path, folder: &Path) -> Result<(), ChoreError> {
        let wanted = self.stamp(source, folder)?;
        let stamp = folder.join("stamp");
        if self.is_finished(folder, &wanted) {
            return Ok(());
        }
        eprintln!("the set `{}` is not here as pinned: installing it into `.tools`", self.name);
        remove(folder)?;
        std::fs::create_dir_all(folder).map_err(ChoreError::file(folder))?;
        (self.install)(self, folder)?;
        // Last, so that an interrupted installation counts as none.
        std::fs::write(&stamp, wanted).map_err(ChoreError::file(&stamp))
    }

    /// Whether the folder carries this stamp and its interpreter still exists.
    fn is_finished(&self, folder: &Path, wanted: &str) -> bool {
        let stamped = std::fs::read_to_string(folder.join("stamp"));
        stamped.is_ok_and(|text| text == wanted) && folder.join(self.witness).exists()
    }

    /// A hash over the pins and the place: what Python installs knows its own path and cannot be moved.
    fn stamp(&self, source: &Path, folder: &Path) -> Result<String, ChoreError> {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(folder.as_os_str().as_encoded_bytes());
        for pin in self.pins {
            let path = source.join(pin);
            add(&std::fs::read(&path).map_err(ChoreError::file(&path))?);
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Two chores at once must not install into the same folder; released when dropped.
pub(crate) fn lock(path: &Path) -> Result<File, ChoreError> {
    let file = File::create(path).map_err(ChoreError::file(path))?;
    file.lock().map_err(ChoreError::file(path))?;
    Ok(file)
}

fn remove(folder: &Path) -> Result<(), ChoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ChoreError::file(folder)(error)),
        _ => Ok(()),
    }
}

/// Where an installer keeps its downloads.
fn cache(installer: &str) -> PathBuf {
    workspace::root().join(".tools/cache").join(installer)
}

#[cfg(test)]
mod tests;
