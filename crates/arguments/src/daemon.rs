//! Options of `daemon`: local servers that run once for all clients.

use clap::{Args, Subcommand};

/// The commands below `daemon`.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum DaemonCommand {
    Enable(DaemonEnableArgs),
    Disable(DaemonDisableArgs),
    Start(DaemonStartArgs),
    Stop(DaemonStopArgs),
    Status(DaemonStatusArgs),
    Logs(DaemonLogsArgs),
    Run(DaemonRunArgs),
}

/// Use the daemon from now on
///
/// Every command and every `mcparley serve` then uses local servers of the daemon, which the first of them
/// starts. Clients that are running keep the servers they have.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley daemon enable")]
pub struct DaemonEnableArgs {}

/// Stop the daemon, and do not use it any more
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley daemon disable")]
pub struct DaemonDisableArgs {}

/// Start the daemon now
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley daemon start")]
pub struct DaemonStartArgs {}

/// End the daemon and its servers
///
/// Clients that are running start the servers they need again, through a new daemon if it is enabled.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley daemon stop")]
pub struct DaemonStopArgs {}

/// Show the daemon, its servers and their clients
///
/// For a server that runs several times, the reason is shown. The exit code is 5 if no daemon is running.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley daemon status
  mcparley daemon status --json")]
pub struct DaemonStatusArgs {}

/// Show the log of the daemon
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley daemon logs")]
pub struct DaemonLogsArgs {}

/// Run the daemon in the foreground, for a service manager
#[derive(Debug, Args)]
#[command(hide = true, after_help = "Example:\n  mcparley daemon run")]
pub struct DaemonRunArgs {}
