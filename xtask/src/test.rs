//! `cargo xtask test`: runs all tests of the workspace.

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::fleet;
use crate::step::ChoreStep;
use crate::tool::NEXTEST;
use crate::workspace;

/// The folder, beside the built programs, where scripted servers record what they receive as long as it is there.
const RECORD: &str = "protocol-record";

/// The page of the servers that are tested.
const COMPATIBILITY: &str = "docs/compatibility.md";

/// The messages that mcparley sends during a test run; the folder goes with this value.
#[derive(Debug)]
struct ProtocolRecord(PathBuf);

impl ProtocolRecord {
    /// Creates the folder of the record, empty.
    fn begin(testkit: &Path) -> Result<Self, ChoreError> {
        let folder = testkit.with_file_name(RECORD);
        let record = Self(folder);
        record.remove();
        std::fs::create_dir_all(&record.0).map_err(ChoreError::file_error(&record.0))?;
        Ok(record)
    }

    /// Checks all messages against the schema of their protocol revision. A run of all tests has messages of every
    /// revision in both directions.
    fn check(&self, testkit: &Path, is_whole: bool) -> Result<(), ChoreError> {
        let folder = self.0.to_string_lossy();
        let words = [&["check-record", &folder][..], if is_whole { &["--complete"] } else { &[] }].concat();
        ChoreStep::program(testkit, &words).run()
    }

    fn remove(&self) {
        // A folder that stays is emptied by the next run.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

impl Drop for ProtocolRecord {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Runs all tests; `passed_on` are arguments for nextest.
pub(crate) fn run_tests(passed_on: &[String]) -> Result<(), ChoreError> {
    fleet::install_fleet()?;
    // Tests start the hostile processes of testkit, the fleet's own server, `mcparley` itself and examples as
    // separate programs. They are built in one run, so that cargo unifies the features of dependencies once
    // and builds nothing twice.
    let testkit =
        ChoreStep::cargo(&["build", "--workspace", "--bins", "--examples"]).run_build("mcparley-testkit")?;
    let record = ProtocolRecord::begin(&testkit)?;
    NEXTEST.into_step(&["run", "--workspace", "--lib", "--bins", "--tests"])?.with_args(passed_on).run()?;
    record.check(&testkit, passed_on.is_empty())?;
    // nextest does not run the examples in documentation.
    ChoreStep::cargo(&["test", "--doc", "--workspace"]).run()
}

/// Runs every server of the fleet through every way to use mcparley, and writes `docs/compatibility.md`. Fails if
/// a step failed; the page shows it.
pub(crate) fn write_compatibility() -> Result<(), ChoreError> {
    fleet::install_fleet()?;
    ChoreStep::cargo(&["build", "--workspace", "--bins", "--examples"]).run()?;
    let tests = ["run", "--workspace", "--lib", "--bins", "--tests", "fleet_compatibility"];
    NEXTEST.into_step(&tests)?.with_env("MCPARLEY_UPDATE_PAGES", "1").run()?;
    let page = workspace::workspace_root().join(COMPATIBILITY);
    let text = std::fs::read_to_string(&page).map_err(ChoreError::file_error(&page))?;
    match failed_rows(&text) {
        0 => Ok(()),
        rows => Err(ChoreError::Incompatible { rows, page }),
    }
}

/// The number of rows with a failed step, which stands in bold.
fn failed_rows(page: &str) -> usize {
    page.lines().filter(|line| line.starts_with('|') && line.contains("**")).count()
}

#[cfg(test)]
mod tests {
    use super::failed_rows;

    #[test]
    fn row_with_a_failed_step_is_counted_and_prose_in_bold_is_not() {
        let page =
            "Failures are **bold**.\n| server | cell |\n| a | 3 tools, call |\n| b | **call: timed out** |\n";
        assert_eq!(failed_rows(page), 1);
    }
}
