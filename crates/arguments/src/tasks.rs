//! Options of `tasks`: calls that outlive their command.

use clap::{Args, Subcommand};

/// List detached calls, or show the result of one
///
/// The daemon makes the calls of `mcparley call --detach`, and keeps their results for a day, also when it ends or the
/// machine restarts. A call that was running then has an unknown outcome: it is never repeated. With an id, or its
/// first digits, the result is printed as `mcparley call` prints it. The exit code is 1 if there is none, and 5 if there
/// is no such call.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  mcparley tasks
  mcparley tasks 5f0c --wait
  mcparley tasks cancel 5f0c"
)]
pub struct TasksArgs {
    /// The command below `tasks`.
    #[command(subcommand)]
    pub command: Option<TasksCommand>,

    /// The task to show
    pub id: Option<String>,

    /// Wait until the call has ended
    #[arg(long, requires = "id")]
    pub wait: bool,
}

/// The commands below `tasks`.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum TasksCommand {
    Cancel(TasksCancelArgs),
    Forget(TasksForgetArgs),
}

/// Cancel a running call
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley tasks cancel 5f0c")]
pub struct TasksCancelArgs {
    /// The task
    pub id: String,
}

/// Remove a call that has ended, and its result
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley tasks forget 5f0c")]
pub struct TasksForgetArgs {
    /// The task
    pub id: String,
}
