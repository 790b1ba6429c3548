//! `cargo xtask lint`: the checks that must pass before a human reviews a change.

mod alone;
pub(crate) mod flow_tables;
pub(crate) mod links;
mod sources;
pub(crate) mod structure;
pub(crate) mod tree;
pub(crate) mod wording;

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::tool::DENY;
use crate::workspace;

/// Runs all checks, the quick ones first.
pub(crate) fn run_lints() -> Result<(), ChoreError> {
    tree::check_tree(workspace::workspace_root())?;
    structure::check_structure(workspace::workspace_root())?;
    wording::check_wording(workspace::workspace_root())?;
    flow_tables::check_flow_tables(workspace::workspace_root())?;
    links::check_links(workspace::workspace_root())?;
    ChoreStep::cargo(&["fmt", "--all", "--check"]).run()?;
    ChoreStep::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).run()?;
    alone::check_crates(workspace::workspace_root())?;
    // Without `advisories`: they need a database from a host that a build machine may not reach, and their
    // result changes without a change in this repository.
    DENY.into_step(&["check", "bans", "licenses", "sources"])?.run()?;
    ChoreStep::cargo(&["doc", "--workspace", "--no-deps"]).with_env("RUSTDOCFLAGS", "-D warnings").run()
}
