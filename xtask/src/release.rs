//! `cargo xtask release --check`: all that must hold before a version is published, as one table.
//!
//! | step | where |
//! |---|---|
//! | every package builds from what would be uploaded | here |
//! | the public interface fits the version | [`crate::semver`] |
//! | the release is the same when it is built in another folder | [`crate::dist`] |
//!
//! All steps run, also after one has failed.

use std::fmt;
use std::time::{Duration, Instant};

use clap::Args;

use crate::dist::{self, BuildOptions, DistOptions};
use crate::error::ChoreError;
use crate::semver::{self, SemverOptions};
use crate::step::ChoreStep;

/// Options of the chore.
#[derive(Debug, Args)]
pub(crate) struct ReleaseOptions {
    /// Check, and publish nothing
    #[arg(long, required = true)]
    check: bool,
    /// Do not build the packages from what would be uploaded
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    semver: SemverOptions,
    #[command(flatten)]
    build: BuildOptions,
}

/// One row of the table.
#[derive(Debug)]
struct StepOutcome {
    name: &'static str,
    error: Option<ChoreError>,
    time: Duration,
}

/// Runs all checks and prints their outcomes.
pub(crate) fn check_release(options: &ReleaseOptions) -> Result<(), ChoreError> {
    let dist = DistOptions::with_all_checks(options.build.clone());
    let outcomes = [
        StepOutcome::measure("packages", || pack_packages(options.no_verify)),
        StepOutcome::measure("interface", || semver::compare_interface(&options.semver)),
        StepOutcome::measure("reproduction", || dist::build_release(&dist)),
    ];
    for outcome in &outcomes {
        println!("{outcome}");
    }
    let failed: Vec<&str> =
        outcomes.iter().filter(|outcome| outcome.error.is_some()).map(|outcome| outcome.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(ChoreError::Unreleasable { steps: failed.join(", ") }) }
}

/// Packs every package that is published, and builds it from its own files.
fn pack_packages(no_verify: bool) -> Result<(), ChoreError> {
    let mut arguments = vec!["publish", "--workspace", "--dry-run", "--locked"];
    if no_verify {
        arguments.push("--no-verify");
    }
    ChoreStep::cargo(&arguments).run()
}

impl StepOutcome {
    fn measure(name: &'static str, step: impl FnOnce() -> Result<(), ChoreError>) -> Self {
        let begun = Instant::now();
        let error = step().err();
        Self { name, error, time: begun.elapsed() }
    }
}

impl fmt::Display for StepOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.error.is_some() { "failed" } else { "passed" };
        write!(f, "{:<14}{outcome:<8}{:>6.0} s", self.name, self.time.as_secs_f64())?;
        match &self.error {
            Some(error) => write!(f, "  {error}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::StepOutcome;
    use crate::error::ChoreError;

    #[test]
    fn row_says_why_a_step_failed() {
        let error = Some(ChoreError::Step { line: "cargo publish".to_owned(), code: 101 });
        let failed = StepOutcome { name: "packages", error, time: Duration::from_secs(7) };
        let row = "packages      failed       7 s  `cargo publish` failed with exit code 101";
        assert_eq!(failed.to_string(), row);
        let passed = StepOutcome { name: "interface", error: None, time: Duration::from_secs(61) };
        assert_eq!(passed.to_string(), "interface     passed      61 s");
    }
}
