//! `cargo xtask dist`: builds the release, and packs it as an archive and as an npm package.
//!
//! All files go into `target/packages`. The archive holds the program, shell completions, manual pages and
//! licenses; the npm package holds the program alone, without an install script. [`check`] proves that both
//! work in an empty home folder without a network, [`reproduce`] that another folder gives the same files.

mod check;
mod npm_package;
mod path_map;
mod reproduce;

use std::path::{Path, PathBuf};

use clap::Args;
use sha2::{Digest, Sha256};

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// Options of the chore.
#[derive(Debug, Args)]
pub(crate) struct DistOptions {
    #[command(flatten)]
    build: BuildOptions,
    /// Try the packages in an empty home folder without a network
    #[arg(long = "check")]
    try_packages: bool,
    /// Build and pack the commit again in another folder, and compare all files
    #[arg(long)]
    reproduce: bool,
}

/// How the program of a release is built.
#[derive(Clone, Debug, Args)]
pub(crate) struct BuildOptions {
    /// Build for this target, such as `x86_64-unknown-linux-musl`; the default is this machine's
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Build with this profile, for a trial of this chore
    #[arg(long, value_name = "PROFILE", default_value = "dist")]
    profile: String,
}

impl DistOptions {
    /// A build with every check of its packages.
    pub(crate) fn with_all_checks(build: BuildOptions) -> Self {
        Self { build, try_packages: true, reproduce: true }
    }
}

/// The packed release.
#[derive(Debug)]
struct Release {
    /// The root of the workspace that it was built from.
    source: PathBuf,
    folder: PathBuf,
    program: PathBuf,
    /// The name of archive and folder: program, version and target.
    name: String,
}

/// The shells that get a completion script, and the name of the file each of them looks for.
const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "mcparley.bash"), ("fish", "mcparley.fish"), ("zsh", "_mcparley")];

/// The files of the repository that both packages carry.
const TEXTS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Builds and packs the release.
pub(crate) fn build_release(options: &DistOptions) -> Result<(), ChoreError> {
    if options.reproduce {
        reproduce::require_commit()?;
    }
    let release = Release::build(workspace::workspace_root(), &options.build)?;
    let packages = release.pack_all()?;
    if options.try_packages {
        check::check_release(&release, &packages[0], &packages[1])?;
    }
    if options.reproduce {
        reproduce::compare_with_second_build(&release, &options.build)?;
    }
    println!("{}", release.folder.display());
    Ok(())
}

/// Packs relative relocations: two bytes each instead of 24, which GNU libraries read from version 2.36 on.
const PACKED_RELOCATIONS: [&str; 2] = ["-C", "link-arg=-Wl,-z,pack-relative-relocs"];

/// Builds the program of the packages and returns its path.
pub(crate) fn build_program() -> Result<PathBuf, ChoreError> {
    build_program_in(workspace::workspace_root(), "dist", None)
}

/// Builds the program from the workspace at `source`; no path of this machine gets into it.
fn build_program_in(source: &Path, profile: &str, target: Option<&str>) -> Result<PathBuf, ChoreError> {
    let mut arguments = vec!["rustc", "--profile", profile, "--locked", "--package", "mcparley-cli"];
    arguments.extend(["--bin", "mcparley"]);
    arguments.extend(target.into_iter().flat_map(|target| ["--target", target]));
    let has_gnu_library = target.is_none_or(|target| target.ends_with("-gnu"));
    let linker: &[&str] = if has_gnu_library { &PACKED_RELOCATIONS } else { &[] };
    let mut step = ChoreStep::cargo(&arguments).in_folder(source);
    for (name, value) in path_map::PathMap::for_build(source)?.build_variables() {
        step = step.with_env(name, &value);
    }
    if source != workspace::workspace_root() {
        step = step.with_env("CARGO_TARGET_DIR", &source.join("target").to_string_lossy());
    }
    step.run_build_with("mcparley", linker)
}

impl Release {
    fn build(source: &Path, options: &BuildOptions) -> Result<Self, ChoreError> {
        let target = options.target.as_deref();
        let program = build_program_in(source, &options.profile, target)?;
        let triple = target.map_or_else(|| format!("{}-linux", std::env::consts::ARCH), str::to_owned);
        let root = program.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "target"));
        let root = root.map_or_else(|| source.join("target"), Path::to_owned);
        Ok(Self {
            source: source.to_owned(),
            // Not `dist`, where cargo builds the profile of this name.
            folder: root.join("packages"),
            program,
            name: format!("mcparley-{}-{triple}", env!("CARGO_PKG_VERSION")),
        })
    }

    /// Packs the archive, the npm package and their checksums; returns the paths of the first two.
    fn pack_all(&self) -> Result<[PathBuf; 2], ChoreError> {
        self.stage_files()?;
        let packages = [self.pack_archive()?, npm_package::pack_package(self)?];
        self.write_checksums(&packages)?;
        Ok(packages)
    }

    /// The folder that becomes the archive.
    fn stage(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    fn stage_files(&self) -> Result<(), ChoreError> {
        remove_folder(&self.folder)?;
        let stage = self.stage();
        copy_file(&self.program, &stage.join("mcparley"))?;
        for text in TEXTS {
            copy_file(&self.source.join(text), &stage.join(text))?;
        }
        for (shell, file) in COMPLETIONS {
            let script = ChoreStep::program(&self.program, &["completions", shell]).run_for_output()?;
            write_file(&stage.join("completions").join(file), &script)?;
        }
        let pages = self.source.join("docs/man");
        for page in std::fs::read_dir(&pages).map_err(ChoreError::file_error(&pages))? {
            let page = page.map_err(ChoreError::file_error(&pages))?;
            copy_file(&page.path(), &stage.join("man/man1").join(page.file_name()))?;
        }
        Ok(())
    }

    /// Packs the stage; the same files give the same archive.
    fn pack_archive(&self) -> Result<PathBuf, ChoreError> {
        let archive = self.folder.join(format!("{}.tar.gz", self.name));
        let (folder, path) = (self.folder.to_string_lossy(), archive.to_string_lossy());
        let arguments = [
            "--create",
            "--use-compress-program=gzip -n9",
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--mtime=@0",
            "--mode=u=rwX,go=rX",
            "--directory",
            &folder,
            "--file",
            &path,
            &self.name,
        ];
        ChoreStep::program("tar".as_ref(), &arguments).run()?;
        Ok(archive)
    }

    /// Writes `SHA256SUMS`, in the format that `sha256sum --check` reads.
    fn write_checksums(&self, files: &[PathBuf]) -> Result<(), ChoreError> {
        let mut lines = String::new();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            lines.push_str(&format!("{}  {name}\n", file_digest(file)?));
        }
        write_file(&self.folder.join("SHA256SUMS"), &lines)
    }
}

/// The SHA-256 of a file, in hexadecimal digits.
fn file_digest(file: &Path) -> Result<String, ChoreError> {
    let bytes = std::fs::read(file).map_err(ChoreError::file_error(file))?;
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), ChoreError> {
    create_parent(to)?;
    std::fs::copy(from, to).map(|_| ()).map_err(ChoreError::file_error(from))
}

fn write_file(path: &Path, text: &str) -> Result<(), ChoreError> {
    create_parent(path)?;
    std::fs::write(path, text).map_err(ChoreError::file_error(path))
}

fn create_parent(path: &Path) -> Result<(), ChoreError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(ChoreError::file_error(folder))
}

fn remove_folder(folder: &Path) -> Result<(), ChoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ChoreError::file_error(folder)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::PACKED_RELOCATIONS;
    use crate::workspace;

    #[test]
    fn benchmark_links_as_the_release_does() {
        let stage = workspace::workspace_root().join("bench/src/stage.rs");
        let stage = std::fs::read_to_string(stage).unwrap();
        assert!(PACKED_RELOCATIONS.iter().all(|word| stage.contains(&format!("\"{word}\""))), "{stage}");
    }
}
