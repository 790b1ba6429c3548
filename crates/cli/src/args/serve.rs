//! Options of `serve`.

use clap::{Args, ValueEnum};

use super::CompletionSource;

/// The condition under which tools are deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeferArg {
    /// If their definitions take more than 10,000 tokens, or as set in `ENABLE_TOOL_SEARCH`
    Auto,
    /// Always, except tools of servers with `alwaysLoad`
    Always,
    /// Never
    Never,
}

/// Serve all servers as one MCP server
///
/// Speaks MCP on standard input and output, with clients of every revision from 2024-11-05 to 2026-07-28,
/// until standard input closes. Cached tools are offered at once; a server starts when it is needed.
/// Permission rules, modes and hooks apply to every call. A permission question goes to the client that made
/// the call; if the client cannot ask its user, the call is denied.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley serve
  mcparley serve --only files --only search --permission-mode plan
  mcparley serve --tools 'files__read_*,search'
  mcparley serve --allowed-tools mcp__files --no-prefix files

To write it into the configuration of an agent: `mcparley connect CLIENT`")]
pub struct ServeArgs {
    /// Defer tools until a model searches for them
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN")]
    pub defer: DeferArg,

    /// Serve only this server; may be repeated
    #[arg(long, value_name = "SERVER", add = CompletionSource::Servers)]
    pub only: Vec<String>,

    /// Offer only these tools, as globs of `server`, `server__tool` or `mcp__server__tool`; may be repeated
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub tools: Vec<String>,

    /// Offer tools of this server without the prefix `mcp__server__`, unless the name is taken; may be
    /// repeated
    #[arg(long, value_name = "SERVER", add = CompletionSource::Servers)]
    pub no_prefix: Vec<String>,
}
