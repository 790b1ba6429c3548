//! Options of the commands that record a choice about servers: `enable`, `disable`, `trust`, `approve` and `reject`.

use std::path::PathBuf;

use clap::Args;

use super::{AgentOption, CompletionSource, OwnScopeArg};

/// Enable a server or some of its tools
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley enable files
  mcparley enable files 'write_*'
  mcparley enable all")]
pub struct EnableArgs {
    /// The server, or `all`
    #[arg(add = CompletionSource::Servers)]
    pub name: String,

    /// Enable only these tools of the server; `*` matches any characters
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
}

/// Disable a server or some of its tools
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley disable files
  mcparley disable files -s user
  mcparley disable files 'write_*'")]
pub struct DisableArgs {
    /// Scope of the change; for tools it is the scope of the server's entry
    #[arg(short, long, value_enum, default_value = "local", conflicts_with = "tools")]
    pub scope: OwnScopeArg,

    /// The server, or `all`
    #[arg(add = CompletionSource::Servers)]
    pub name: String,

    /// Disable only these tools of the server; `*` matches any characters
    #[arg(value_name = "TOOL")]
    pub tools: Vec<String>,
}

/// Review and approve the configuration of a folder
///
/// Shows all servers, variables, hooks, allow rules, and servers of plugins and agents that need approval, as
/// written and as they would run. Asks once on a terminal. Without a terminal it approves nothing and exits
/// with code 10, unless `--yes` is given.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley trust
  mcparley trust ~/src/project --yes")]
pub struct TrustArgs {
    /// Approve without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The folder [default: the current folder]
    #[arg(value_hint = clap::ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// Approve servers of a project, as currently defined
///
/// Shows each server in full and asks on a terminal. Without a terminal a server named on the command line is
/// approved, and `--all` needs `--yes`. A server whose definition changes needs approval again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley approve files
  mcparley approve --all --yes")]
pub struct ApproveArgs {
    /// The agent that the servers belong to.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Approve only if the server still has this definition, as shown by `mcparley get`
    #[arg(long, value_name = "sha256:…", conflicts_with = "all")]
    pub definition: Option<String>,

    /// Approve every server that needs approval
    #[arg(long, conflicts_with = "names")]
    pub all: bool,

    /// Approve without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The servers
    #[arg(required_unless_present = "all", add = CompletionSource::PendingServers)]
    pub names: Vec<String>,
}

/// Reject servers of a project, so that they never run
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley reject files
  mcparley reject files -s user")]
pub struct RejectArgs {
    /// The agent that the servers belong to.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Scope of the rejection
    #[arg(short, long, value_enum, default_value = "local")]
    pub scope: OwnScopeArg,

    /// The servers
    #[arg(required = true, add = CompletionSource::PendingServers)]
    pub names: Vec<String>,
}
