//! `cargo xtask test`: runs all tests of the workspace.

use crate::error::ChoreError;
use crate::fleet;
use crate::step::ChoreStep;
use crate::tool::NEXTEST;

/// Runs all tests; `passed_on` are arguments for nextest.
pub(crate) fn run_tests(passed_on: &[String]) -> Result<(), ChoreError> {
    fleet::install_fleet()?;
    // Tests start the hostile processes of testkit, the fleet's own server, `mcparley` itself and examples as
    // separate programs. They are built in one run, so that cargo unifies the features of dependencies once
    // and builds nothing twice.
    ChoreStep::cargo(&["build", "--workspace", "--bins", "--examples"]).run()?;
    NEXTEST.into_step(&["run", "--workspace", "--lib", "--bins", "--tests"])?.with_args(passed_on).run()?;
    // nextest does not run the examples in documentation.
    ChoreStep::cargo(&["test", "--doc", "--workspace"]).run()
}
