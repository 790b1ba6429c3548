//! Options of `hooks`: listing hooks, approving and rejecting hooks of a project.

use clap::{Args, Subcommand};

use super::CompletionSource;

/// List hooks, and approve or reject hooks of a project
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum HooksCommand {
    List(HooksListArgs),
    Approve(HooksApproveArgs),
    Reject(HooksRejectArgs),
}

/// List hooks with their event, matcher and status
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley hooks list --json")]
pub struct HooksListArgs {}

/// Approve hooks of the project, as currently defined
///
/// A hook whose definition changes needs approval again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley hooks approve sha256:3f1c9a0b7d2e
  mcparley hooks approve --all")]
pub struct HooksApproveArgs {
    /// Approve every hook that needs approval
    #[arg(long, conflicts_with = "definitions")]
    pub all: bool,

    /// Definitions of the hooks, as shown by `mcparley hooks list`
    #[arg(
        required_unless_present = "all",
        value_name = "DEFINITION",
        add = CompletionSource::PendingHooks
    )]
    pub definitions: Vec<String>,
}

/// Reject hooks of the project, so that they never run
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley hooks reject sha256:3f1c9a0b7d2e")]
pub struct HooksRejectArgs {
    /// Definitions of the hooks, as shown by `mcparley hooks list`
    #[arg(required = true, value_name = "DEFINITION", add = CompletionSource::PendingHooks)]
    pub definitions: Vec<String>,
}
