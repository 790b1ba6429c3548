//! Options of the commands that look into the catalogue.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use mcparley::model::limits::{SEARCH_RESULTS, SEARCH_RESULTS_MOST};

use super::SeenBy;
use crate::complete;

/// Find tools by what they do
///
/// Searches names, titles, descriptions and arguments of all tools and lists the best first, as the tool `ToolSearch`
/// does for a model. What a permission rule denies whole is not found. What servers offer is remembered, so that they
/// need not run for this.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley search read a file
  mcparley search +github create issue          the name of tool or server must have the word
  mcparley search select:mcp__files__read_file  exactly this tool
  mcparley search rename --server files --limit 1 --json

Ends with code 5 when nothing is found, or a name after `select:` means no tool.")]
pub struct SearchArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// What to look for
    #[arg(required = true)]
    pub words: Vec<String>,

    /// Only tools of this server
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::servers))]
    pub server: Option<String>,

    /// How many tools to show at most
    #[arg(long, value_name = "N", default_value_t = SEARCH_RESULTS as u64,
          value_parser = clap::value_parser!(u64).range(1..=SEARCH_RESULTS_MOST as u64))]
    pub limit: u64,
}

/// Show how much of a model's context the tools take
///
/// Tokens of every server and every tool, the largest first, and what a model would be shown at once: all tools when they
/// fit the budget, otherwise those that are always loaded, and a tool to search for the rest. Tokens are estimated, the same
/// way on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley budget
  mcparley budget --context 200000              what a tenth of this context holds
  mcparley budget --max 25000                   for CI: code 13 when the tools take more

`ENABLE_TOOL_SEARCH` decides like it does for a model: `true` (tools wait for a search), `false` (all are shown), `auto`,
`auto:N` (N percent of the context).")]
pub struct BudgetArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Fail when all tools together take more tokens than this
    #[arg(long, value_name = "TOKENS")]
    pub max: Option<u64>,

    /// How many tokens the model's context holds
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub context: Option<u64>,
}
