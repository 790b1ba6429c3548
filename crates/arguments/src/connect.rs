//! Options of `connect`.

use clap::{Args, ValueEnum};
use mcparley::config::client_setup::ClientProgram;

use super::CompletionSource;

/// The scope of the client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SetupScopeArg {
    /// The file of the client for you
    User,
    /// The file of the client in the project folder
    Project,
}

/// Connect an MCP client to all your servers
///
/// Writes `mcparley serve` into the configuration of the client, after showing it, with a backup. `--undo`
/// puts the file back. Without a client, lists the clients of this machine and their state.
///
/// `--permission-mode`, `--allowed-tools` and `--disallowed-tools` are passed on to `mcparley serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley connect
  mcparley connect claude-code
  mcparley connect cursor --take-over --yes
  mcparley connect codex --tools 'files__read_*,search'
  mcparley connect codex --undo")]
pub struct ConnectArgs {
    /// Scope of the client's file
    #[arg(short, long, value_enum, default_value = "user")]
    pub scope: SetupScopeArg,

    /// Offer only this server; may be repeated
    #[arg(long, value_name = "SERVER", add = CompletionSource::Servers)]
    pub only: Vec<String>,

    /// Offer only these tools, as globs of `server`, `server__tool` or `mcp__server__tool`; may be repeated
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub tools: Vec<String>,

    /// Move the client's own servers into your user scope, so that none runs twice
    #[arg(long)]
    pub take_over: bool,

    /// Put the client's file back as it was, and servers that were taken over too
    #[arg(long, requires = "client", conflicts_with_all = ["only", "tools", "take_over", "print"])]
    pub undo: bool,

    /// Print the entry and its file, and write nothing
    #[arg(long, requires = "client")]
    pub print: bool,

    /// Write without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The client
    #[arg(value_parser = client_words())]
    pub client: Option<String>,
}

fn client_words() -> Vec<&'static str> {
    ClientProgram::ALL.into_iter().map(ClientProgram::as_str).collect()
}
