//! Options of the commands about what servers offer besides tools.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::SeenBy;
use crate::complete;

/// Show the prompts of the servers
///
/// One line per prompt: how it is used and what it does. Arguments in brackets may be left out. What a server offers is
/// remembered for a day, so that it need not run for this.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley prompts
  mcparley prompts notes --json")]
pub struct PromptsArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Only this server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: Option<String>,

    /// Ask the servers, though it is remembered what they offer
    #[arg(long)]
    pub refresh: bool,
}

/// Print what a prompt gives
///
/// The server makes messages of the prompt and its arguments. Their text is printed as it is; on a terminal without what
/// would drive it. Arguments are given by position or as name=value.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcparley prompt [OPTIONS] <SERVER> <PROMPT> [ARGUMENTS]…\n       \
                      mcparley prompt [OPTIONS] <mcp__SERVER__PROMPT> [ARGUMENTS]…",
    after_help = "\
Examples:
  mcparley prompt notes summarize
  mcparley prompt mcp__git__review main style='short and dry'
  mcparley prompt notes greet --json -- -5"
)]
pub struct PromptArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// The server; or the prompt's whole name `mcp__server__prompt`
    #[arg(value_name = "SERVER", add = ArgValueCandidates::new(complete::servers))]
    pub target: String,

    /// The prompt, unless its whole name was given, and its arguments
    #[arg(value_name = "PROMPT and ARGUMENTS")]
    pub words: Vec<String>,
}
