//! `hooks`: look at them, and choose about those that a project brings.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::complete;

/// Look at hooks, and let those of a project run
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// List every hook: when it runs, for what, and what becomes of it
    List(HooksListArgs),
    /// Let hooks of the project run, as they are defined now
    Approve(HooksApproveArgs),
    /// Never let hooks of the project run, as they are defined now
    Reject(HooksRejectArgs),
}

/// List every hook
#[derive(Debug, Args)]
pub struct HooksListArgs {}

/// Let hooks of the project run
#[derive(Debug, Args)]
pub struct HooksApproveArgs {
    /// Approve every hook that waits for it
    #[arg(long, conflicts_with = "definitions")]
    pub all: bool,

    /// The hooks: their definitions, as `mcparley hooks list` shows them
    #[arg(
        required_unless_present = "all",
        value_name = "DEFINITION",
        add = ArgValueCandidates::new(complete::pending_hooks)
    )]
    pub definitions: Vec<String>,
}

/// Never let hooks of the project run
#[derive(Debug, Args)]
pub struct HooksRejectArgs {
    /// The hooks: their definitions, as `mcparley hooks list` shows them
    #[arg(required = true, value_name = "DEFINITION", add = ArgValueCandidates::new(complete::pending_hooks))]
    pub definitions: Vec<String>,
}
