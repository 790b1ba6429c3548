//! Options of the commands that query the catalog: `search` and `budget`.

use clap::Args;
use mcparley::model::limits::{SEARCH_RESULTS, SEARCH_RESULTS_MOST};

use super::{AgentOption, CompletionSource};

/// Search for tools
///
/// Searches names, titles, descriptions and arguments of all tools and prints the best matches first, like
/// the tool `ToolSearch` does for a model. Tools denied by a permission rule are not found. Tool lists are
/// cached for a day, so servers need not start.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley search read a file
  mcparley search +github create issue       # names must contain `github`
  mcparley search select:mcp__files__read_file  # exactly this tool
  mcparley search rename --server files --limit 1 --json
  mcparley search sum -- npx -y @modelcontextprotocol/server-everything

The exit code is 5 if no tool is found, or if a name after `select:` is not a tool.")]
pub struct SearchArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Words to search for
    #[arg(required = true)]
    pub words: Vec<String>,

    /// Only tools of this server
    #[arg(long, value_name = "NAME", add = CompletionSource::Servers)]
    pub server: Option<String>,

    /// Maximum number of tools to show
    #[arg(long, value_name = "N", default_value_t = SEARCH_RESULTS as u64,
          value_parser = clap::value_parser!(u64).range(1..=SEARCH_RESULTS_MOST as u64))]
    pub limit: u64,
}

/// Show the context budget of the tools
///
/// Prints the tokens of every server and every tool, largest first, and the tools that a model gets in its
/// first request: all of them if they fit the budget, otherwise those with `alwaysLoad` and a search tool for
/// the rest. Tokens are estimated, the same way on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley budget
  mcparley budget --context 200000    # the budget is a tenth of this context
  mcparley budget --max 25000         # for CI: code 13 if the tools take more

`ENABLE_TOOL_SEARCH` has the same meaning as for a model: `true` (defer tools until a search), `false` (list all
tools), `auto`, `auto:N` (N percent of the context).")]
pub struct BudgetArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Fail if all tools together take more tokens than this
    #[arg(long, value_name = "TOKENS")]
    pub max: Option<u64>,

    /// Size of the model's context, in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context: Option<u64>,
}
