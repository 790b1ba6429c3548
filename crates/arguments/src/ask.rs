//! Options of `ask`.

use clap::Args;

use super::AgentOption;

/// Ask a model that uses the tools of your servers
///
/// Sends the question to a model with the tools and instructions of all servers, makes the tool calls that the
/// model asks for, and prints its answer as it arrives. Tool calls are reported on standard error. Permission
/// rules, modes and hooks apply to every call. A call that no rule allows is asked about on a terminal, and
/// denied elsewhere.
///
/// The model is taken from the environment: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`. Text
/// that is piped in is added to the question. `@server:uri` adds a resource.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley ask 'What changed since Monday?' --allowed-tools mcp__git
  git diff | mcparley ask 'Write a commit message for this'
  mcparley ask --model openai:gpt-5.4 'Summarize @notes:notes://today'
  mcparley ask --json 'How many open issues are there?' | jq -r .text

See docs/ask.md")]
pub struct AskArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Use this model: `provider:model`, a provider (`anthropic`, `openai`, `gemini`) or a model name
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,

    /// Send at most this many requests to the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub max_rounds: Option<u16>,

    /// The question; without it, it is read from standard input
    #[arg(value_name = "TEXT")]
    pub words: Vec<String>,
}
