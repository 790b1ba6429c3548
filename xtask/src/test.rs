//! `cargo xtask test`: every test of the workspace.

use crate::error::ChoreError;
use crate::fleet;
use crate::step::Step;
use crate::tool::NEXTEST;

/// Runs them; `passed_on` goes to nextest.
pub(crate) fn run(passed_on: &[String]) -> Result<(), ChoreError> {
    fleet::run()?;
    // Tests start the hostile processes of testkit, the fleet's own server, `mcparley` itself and examples as
    // programs of their own. All in one build, so that cargo joins the features of dependencies once and
    // builds nothing twice.
    Step::cargo(&["build", "--workspace", "--bins", "--examples"]).run()?;
    NEXTEST.step(&["run", "--workspace", "--lib", "--bins", "--tests"])?.args(passed_on).run()?;
    // nextest does not run the examples in documentation.
    Step::cargo(&["test", "--doc", "--workspace"]).run()
}
