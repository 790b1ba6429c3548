//! Unpacks programs from Debian packages: Redis and nginx, and the libraries that a small system lacks.
//!
//! Nothing is installed into the system: apt keeps its lists below `.tools`, and verifies each package with the
//! signature of the archive. Programs that are on `PATH` already are linked instead.

use std::path::{Path, PathBuf};

use super::{PackageSet, cache_folder};
use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// The programs of the set.
const PROGRAMS: [&str; 3] = ["redis-server", "redis-cli", "nginx"];
/// A link to the program that takes longest to find.
pub(super) const WITNESS: &str = "bin/nginx";

/// Links the programs of the system, or unpacks them below `folder`.
pub(super) fn install_set(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).map_err(ChoreError::file_error(&bin))?;
    let installed: Vec<Option<PathBuf>> = PROGRAMS.iter().map(|name| find_program(name)).collect();
    if let Some(found) = installed.into_iter().collect::<Option<Vec<_>>>() {
        return PROGRAMS.iter().zip(found).try_for_each(|(name, path)| link_program(&bin.join(name), &path));
    }
    if find_program("apt-get").is_none() || find_program("dpkg").is_none() {
        let hint = "install `redis-server` and `nginx` with the package manager of this system";
        return Err(ChoreError::Missing { program: "redis-server", hint });
    }
    unpack_packages(set, folder)?;
    for name in PROGRAMS {
        let places = ["usr/bin", "usr/sbin"].map(|place| folder.join("root").join(place).join(name));
        let place = places.iter().find(|place| place.exists());
        let hint = "its Debian package does not contain it";
        link_program(&bin.join(name), place.ok_or(ChoreError::Missing { program: name, hint })?)?;
    }
    // Fails if a library is missing.
    let libraries = folder.join("root/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let version = |name: &str, option: &str| {
        ChoreStep::program(&bin.join(name), &[option])
            .with_env("LD_LIBRARY_PATH", &libraries.to_string_lossy())
            .run()
    };
    version("redis-server", "--version")?;
    version("nginx", "-v")?;
    link_program(&folder.join("lib"), &libraries)
}

/// Downloads the packages and unpacks them into `root`.
fn unpack_packages(set: &PackageSet, folder: &Path) -> Result<(), ChoreError> {
    let cache = cache_folder("debian");
    let lists = cache.join("lists/partial");
    std::fs::create_dir_all(&lists).map_err(ChoreError::file_error(&lists))?;
    let options = [
        "-o".to_owned(),
        format!("Dir::State::Lists={}", cache.join("lists").display()),
        "-o".to_owned(),
        format!("Dir::Cache={}", cache.display()),
        "-o".to_owned(),
        "APT::Sandbox::User=".to_owned(),
        "-q".to_owned(),
    ];
    let apt = |arguments: &[String]| {
        let arguments = [&options, arguments].concat();
        ChoreStep::program("apt-get".as_ref(), &[]).in_folder(folder).with_args(&arguments).run()
    };
    apt(&["update".to_owned()])?;
    let pins: Vec<PathBuf> =
        set.pins.iter().map(|pin| workspace::workspace_root().join("fleet").join(pin)).collect();
    for pin in pins {
        let names = std::fs::read_to_string(&pin).map_err(ChoreError::file_error(&pin))?;
        let names = names.lines().map(str::to_owned);
        apt(&std::iter::once("download".to_owned()).chain(names).collect::<Vec<_>>())?;
    }
    let root = folder.join("root").to_string_lossy().into_owned();
    for entry in std::fs::read_dir(folder).map_err(ChoreError::file_error(folder))? {
        let package = entry.map_err(ChoreError::file_error(folder))?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            ChoreStep::program("dpkg".as_ref(), &["-x", &package.to_string_lossy(), &root]).run()?;
        }
    }
    Ok(())
}

fn find_program(name: &str) -> Option<PathBuf> {
    let question = format!("command -v {name}");
    let found = ChoreStep::program("sh".as_ref(), &["-c", &question]).run_silently()?;
    Some(PathBuf::from(found.trim_end())).filter(|path| path.is_absolute())
}

fn link_program(link: &Path, path: &Path) -> Result<(), ChoreError> {
    std::os::unix::fs::symlink(path, link).map_err(ChoreError::file_error(link))
}
