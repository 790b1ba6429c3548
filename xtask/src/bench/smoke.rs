//! `cargo xtask bench smoke`: the processor time of the released program against the accepted ratios.

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::workspace;

/// The accepted ratios.
const BASELINE: &str = "bench/baseline.json";

/// Builds the program as the README says, and measures it from outside.
pub(crate) fn run_smoke(passed_on: &[String]) -> Result<(), ChoreError> {
    // The same features as `cargo run --release`, which would otherwise be built a second time.
    let mcparley = ChoreStep::cargo(&["build", "--release"]).run_build("mcparley")?;
    let smoke = ["build", "--release", "--package", "mcparley-smoke"];
    let program = ChoreStep::cargo(&smoke).run_build("mcparley-smoke")?;
    let baseline = workspace::workspace_root().join(BASELINE);
    ChoreStep::program(&program, &["--mcparley", &mcparley.to_string_lossy()])
        .with_args(&["--baseline".to_owned(), baseline.to_string_lossy().into_owned()])
        .with_args(passed_on)
        .run()
}
