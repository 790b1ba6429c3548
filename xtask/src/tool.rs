//! The programs that chores need beside cargo, each in one version.
//!
//! A developer's own copy is used when it has that version; otherwise one is built into `.tools`, so that
//! nobody's installed programs change.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::step::Step;
use crate::workspace;

/// The test runner: a process for each test, and a time limit.
///
/// Without its self-update, which would bring a TLS stack along to be built and never used.
pub(crate) const NEXTEST: Tool = Tool {
    name: "cargo-nextest",
    word: "nextest",
    version: "0.9.143",
    choice: &["--no-default-features", "--features", "default-no-update"],
};
/// The judge of dependencies.
pub(crate) const DENY: Tool = Tool { name: "cargo-deny", word: "deny", version: "0.20.2", choice: &[] };

/// A cargo subcommand in one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    name: &'static str,
    word: &'static str,
    version: &'static str,
    /// What more to tell `cargo install`.
    choice: &'static [&'static str],
}

impl Tool {
    /// A step that runs it, after installing it if need be.
    pub(crate) fn step(self, arguments: &[&str]) -> Result<Step, ChoreError> {
        let program = self.ready()?;
        let with_word: Vec<&str> = std::iter::once(self.word).chain(arguments.iter().copied()).collect();
        Ok(Step::program(&program, &with_word))
    }

    fn ready(self) -> Result<PathBuf, ChoreError> {
        let tools = workspace::root().join(".tools");
        let program = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let own = tools.join("bin").join(&program);
        if let Some(found) = [PathBuf::from(program), own.clone()].into_iter().find(|path| self.is(path)) {
            return Ok(found);
        }
        eprintln!("{} {} is not here: building it into `.tools`", self.name, self.version);
        // `--force`, because a copy that cargo knows of may still be broken or gone.
        let install =
            ["install", self.name, "--version", self.version, "--locked", "--force", "--root", ".tools"];
        Step::cargo(&[&install, self.choice].concat()).run()?;
        Ok(own)
    }

    fn is(self, program: &Path) -> bool {
        let version = Step::program(program, &[self.word, "--version"]).probe();
        version.is_some_and(|text| self.is_named_by(&text))
    }

    /// Whether `--version` printed this name and version, with or without more after it.
    fn is_named_by(self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        words.next() == Some(self.name) && words.next() == Some(self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::{DENY, NEXTEST};

    #[test]
    fn only_the_pinned_version_counts() {
        assert!(NEXTEST.is_named_by("cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143\n"));
        assert!(DENY.is_named_by("cargo-deny 0.20.2\n"));
        assert!(!DENY.is_named_by("cargo-deny 0.20.21\n"));
        assert!(!DENY.is_named_by(""));
    }
}
