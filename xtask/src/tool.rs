//! The programs that chores need besides cargo, each pinned to one version.
//!
//! A developer's own copy is used when it has that version; otherwise one is built into `.tools`, so that no
//! installed program is replaced.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// The test runner: one process per test, and a time limit.
///
/// Without its self-update, which would need a TLS stack to be built that is never used.
pub(crate) const NEXTEST: PinnedTool = PinnedTool {
    name: "cargo-nextest",
    word: "nextest",
    version: "0.9.143",
    choice: &["--no-default-features", "--features", "default-no-update"],
};
/// The checker of dependencies.
pub(crate) const DENY: PinnedTool =
    PinnedTool { name: "cargo-deny", word: "deny", version: "0.20.2", choice: &[] };
/// The checker of public interfaces. Each of its versions reads the documentation format of some compilers only.
pub(crate) const SEMVER_CHECKS: PinnedTool =
    PinnedTool { name: "cargo-semver-checks", word: "semver-checks", version: "0.51.0", choice: &[] };

/// The driver of libFuzzer.
pub(crate) const FUZZ: PinnedTool =
    PinnedTool { name: "cargo-fuzz", word: "fuzz", version: "0.13.2", choice: &[] };
/// The tool that changes code and runs the tests, to see whether they notice.
pub(crate) const MUTANTS: PinnedTool =
    PinnedTool { name: "cargo-mutants", word: "mutants", version: "27.1.0", choice: &[] };

/// A cargo subcommand in one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinnedTool {
    name: &'static str,
    word: &'static str,
    version: &'static str,
    /// Additional arguments for `cargo install`.
    choice: &'static [&'static str],
}

impl PinnedTool {
    /// A step that runs the tool; installs it first if needed.
    pub(crate) fn into_step(self, arguments: &[&str]) -> Result<ChoreStep, ChoreError> {
        let program = self.find_or_install()?;
        let with_word: Vec<&str> = std::iter::once(self.word).chain(arguments.iter().copied()).collect();
        Ok(ChoreStep::program(&program, &with_word))
    }

    /// The path of the tool, which is installed first if needed.
    pub(crate) fn find_or_install(self) -> Result<PathBuf, ChoreError> {
        let tools = workspace::workspace_root().join(".tools");
        let program = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let own = tools.join("bin").join(&program);
        if let Some(found) =
            [PathBuf::from(program), own.clone()].into_iter().find(|path| self.has_version(path))
        {
            return Ok(found);
        }
        eprintln!("{} {} is not installed: building it into `.tools`", self.name, self.version);
        // `--force`, because a copy that cargo has registered may still be broken or deleted.
        let install =
            ["install", self.name, "--version", self.version, "--locked", "--force", "--root", ".tools"];
        ChoreStep::cargo(&[&install, self.choice].concat()).run()?;
        Ok(own)
    }

    fn has_version(self, program: &Path) -> bool {
        let version = ChoreStep::program(program, &[self.word, "--version"]).run_silently();
        version.is_some_and(|text| self.matches_version(&text))
    }

    /// Whether `--version` printed this name and version, with or without further text.
    fn matches_version(self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        words.next() == Some(self.name) && words.next() == Some(self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::{DENY, NEXTEST};

    #[test]
    fn only_the_pinned_version_counts() {
        assert!(NEXTEST.matches_version("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143\n"));
        assert!(DENY.matches_version("cargo-deny 0.20.2\n"));
        assert!(!DENY.matches_version("cargo-deny 0.20.21\n"));
        assert!(!DENY.matches_version(""));
    }
}
