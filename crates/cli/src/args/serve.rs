//! Options of `serve`.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::complete;

/// When tools are left out of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeferArg {
    /// When their definitions take more than 10,000 tokens, or as `ENABLE_TOOL_SEARCH` says.
    Auto,
    /// Always, except what says `alwaysLoad`.
    Always,
    /// Never.
    Never,
}

/// Serve all servers to another program, as one MCP server
///
/// Speaks MCP on standard input and output, with clients of every revision from 2024-11-05 to 2026-07-28, until its input
/// ends. What is known of the servers is offered at once; a server starts when it is needed. Calls go through rules,
/// modes and hooks like all others: a question for a person goes to the client that made the call, if that can ask one,
/// and is otherwise answered with no.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley serve
  mcparley serve --only files --only search --permission-mode plan
  mcparley serve --allowed-tools mcp__files --no-prefix files

How to name it in the configuration of an agent: docs/gateway.md")]
pub struct ServeArgs {
    /// Leave tools out of the list until they are searched for: when they do not fit, always, or never
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub defer: DeferArg,

    /// Only this server; may be repeated
    #[arg(long, value_name = "SERVER", add = ArgValueCandidates::new(complete::servers))]
    pub only: Vec<String>,

    /// Offer the tools of this server under their own names, where these are free; may be repeated
    #[arg(long, value_name = "SERVER", add = ArgValueCandidates::new(complete::servers))]
    pub no_prefix: Vec<String>,
}
