//! Keeps the folders of the build machine out of the program, so that every machine builds the same bytes.
//!
//! Compilers write the paths of source files into programs, for the messages of panics and assertions. Each is
//! told to write another path for the workspace, for cargo's home and for the sources of the standard library.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::step::ChoreStep;

/// Folders of this machine, each with the name that is written into the program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathMap {
    pairs: Vec<(PathBuf, String)>,
    /// The seconds of the commit, for compilers that write dates.
    commit_time: String,
}

impl PathMap {
    /// The map for a build of the workspace at `source`.
    pub(super) fn for_build(source: &Path) -> Result<Self, ChoreError> {
        let mut pairs = Vec::new();
        if let Some(rust) = rust_sources() {
            pairs.push(rust);
        }
        if let Some(home) = cargo_home() {
            pairs.push((home, "/cargo".to_owned()));
        }
        // The last pair that fits counts: the workspace may be in one of the folders above.
        pairs.push((source.to_owned(), "/mcparley".to_owned()));
        if let Some(target) = std::env::var_os("CARGO_TARGET_DIR") {
            pairs.push((source.join(target), "/mcparley/target".to_owned()));
        }
        let git = ["log", "-1", "--format=%ct"];
        let time = ChoreStep::program("git".as_ref(), &git).in_folder(source).run_silently();
        let commit_time = time.map_or_else(|| "0".to_owned(), |time| time.trim().to_owned());
        Ok(Self { pairs, commit_time })
    }

    /// The environment variables by which the compilers of Rust and C get the map.
    pub(super) fn build_variables(&self) -> [(&'static str, String); 3] {
        let rust: Vec<String> = self
            .pairs
            .iter()
            .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
            .collect();
        let c: Vec<String> = self
            .pairs
            .iter()
            .map(|(folder, name)| format!("-ffile-prefix-map={}={name}", folder.display()))
            .collect();
        // Cargo splits this variable at the unit separator, so a folder may have a space in its name.
        [
            ("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")),
            ("CFLAGS", c.join(" ")),
            ("SOURCE_DATE_EPOCH", self.commit_time.clone()),
        ]
    }
}

/// The sources of the standard library, if they are installed; without them the compiler writes the same name.
fn rust_sources() -> Option<(PathBuf, String)> {
    let sysroot = ChoreStep::program("rustc".as_ref(), &["--print", "sysroot"]).run_silently()?;
    let version = ChoreStep::program("rustc".as_ref(), &["--version", "--verbose"]).run_silently()?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "))?;
    Some((Path::new(sysroot.trim()).join("lib/rustlib/src/rust"), format!("/rustc/{commit}")))
}

/// The folder with the sources of the packages.
fn cargo_home() -> Option<PathBuf> {
    let own = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    own.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::PathMap;
    use crate::workspace;

    /// A package with a build script. The path of a generated file begins at the root of the machine.
    const SAMPLE: [(&str, &str); 3] = [
        (
            "Cargo.toml",
            "[package]\nname = \"sample\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.release]\nstrip = true\n",
        ),
        (
            "src/main.rs",
            "include!(concat!(env!(\"OUT_DIR\"), \"/place.rs\"));\n\nfn main() {\n    println!(\"{}\", place());\n}\n",
        ),
        (
            "build.rs",
            "fn main() {\n    let folder = std::env::var(\"OUT_DIR\").unwrap();\n    let text = \"fn place() -> &'static str { file!() }\";\n    std::fs::write(folder + \"/place.rs\", text).unwrap();\n}\n",
        ),
    ];

    /// Builds a package at `folder` whose program prints the path of a generated file, and returns the program.
    fn build_sample(folder: &Path, map: &PathMap) -> Vec<u8> {
        std::fs::create_dir_all(folder.join("src")).unwrap();
        for (file, text) in SAMPLE {
            std::fs::write(folder.join(file), text).unwrap();
        }
        let mut cargo = Command::new(workspace::cargo_program());
        cargo.args(["build", "--release", "--offline", "--quiet"]).current_dir(folder);
        cargo.env("CARGO_TARGET_DIR", folder.join("target")).envs(map.build_variables());
        assert!(cargo.status().unwrap().success());
        std::fs::read(folder.join("target/release/sample")).unwrap()
    }

    fn contains(bytes: &[u8], text: &str) -> bool {
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    // U7
    #[test]
    fn program_that_names_its_files_is_the_same_from_two_folders() {
        let root = tempfile::tempdir().unwrap();
        let folders = [root.path().join("one"), root.path().join("below/a/longer name")];
        let map = |folder: &PathBuf| PathMap {
            pairs: vec![(folder.clone(), "/mcparley".to_owned())],
            commit_time: "0".to_owned(),
        };
        let programs = folders.each_ref().map(|folder| build_sample(folder, &map(folder)));
        assert!(programs[0] == programs[1], "the programs differ");
        assert!(!contains(&programs[0], &root.path().to_string_lossy()), "a folder is in the program");
        assert!(contains(&programs[0], "/mcparley/target/release/build/"), "the program names no file");
    }

    #[test]
    fn workspace_inside_of_the_home_of_cargo_has_its_own_name() {
        let pairs = ["/home/me/.cargo=/cargo", "/home/me/.cargo/ws=/mcparley"];
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap());
        let pairs = pairs.map(|(folder, name)| (PathBuf::from(folder), name.to_owned())).to_vec();
        let map = PathMap { pairs, commit_time: "1700000000".to_owned() };
        let [(_, rust), (_, c), time] = map.build_variables();
        let expected = "--remap-path-prefix=/home/me/.cargo=/cargo\u{1f}--remap-path-prefix=/home/me/.cargo/ws=/mcparley";
        assert_eq!(rust, expected);
        assert_eq!(
            c,
            "-ffile-prefix-map=/home/me/.cargo=/cargo -ffile-prefix-map=/home/me/.cargo/ws=/mcparley"
        );
        assert_eq!(time, ("SOURCE_DATE_EPOCH", "1700000000".to_owned()));
    }
}
