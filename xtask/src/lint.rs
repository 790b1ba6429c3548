//! `cargo xtask lint`: what must hold before a change is looked at by a person.

pub(crate) mod tree;

use crate::error::ChoreError;
use crate::step::Step;
use crate::tool::DENY;
use crate::workspace;

/// Runs all checks, the quick ones first.
pub(crate) fn run() -> Result<(), ChoreError> {
    tree::check(workspace::root())?;
    Step::cargo(&["fmt", "--all", "--check"]).run()?;
    Step::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).run()?;
    // Without `advisories`: they need a database from a host that a build machine may not reach, and they
    // change without a change of ours.
    DENY.step(&["check", "bans", "licenses", "sources"])?.run()?;
    Step::cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run()
}
