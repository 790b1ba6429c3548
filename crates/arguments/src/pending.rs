//! Options of `pending`: open questions of gateways, and denied tools.

use clap::{Args, Subcommand};

use super::CompletionSource;

/// List open questions of running gateways and denied tools, or answer a question
///
/// Every `mcparley serve` of yours is asked for the questions that its clients have not answered yet:
/// permissions of calls, forms and pages of servers, and requests to a model. With an id the question is asked
/// on this terminal; without a terminal it is shown. The first answer counts, here or in the client, and the
/// client gets the result of the call.
///
/// A tool is listed below them after a model was denied a call because no permission rule allows it and nobody
/// could be asked, with the command that allows it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  mcparley pending
  mcparley pending 9f3a-1
  mcparley pending --show --json
  mcparley pending answer 9f3a-1 --allow"
)]
pub struct PendingArgs {
    /// The command below `pending`.
    #[command(subcommand)]
    pub command: Option<PendingCommand>,

    /// The question to answer
    #[arg(add = CompletionSource::PendingQuestions)]
    pub id: Option<String>,

    /// Show arguments of calls and contents of questions
    #[arg(long)]
    pub show: bool,
}

/// The commands below `pending`.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the doc of the arguments is the help; clap would show that of the variant instead"
)]
pub enum PendingCommand {
    Answer(PendingAnswerArgs),
}

/// Answer an open question without a terminal
///
/// The exit code is 5 if there is no such question, or no longer.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("answer").required(true),
    override_usage = "mcparley pending answer <ID> <--allow|--deny|--accept …>",
    after_help = "\
Examples:
  mcparley pending answer 9f3a-1 --allow
  mcparley pending answer 9f3a-1 --deny --reason 'not on this branch'
  mcparley pending answer 9f3a-2 --accept '{\"name\": \"Grace\"}'"
)]
pub struct PendingAnswerArgs {
    /// The question
    #[arg(add = CompletionSource::PendingQuestions)]
    pub id: String,

    /// Allow the call once
    #[arg(long, group = "answer")]
    pub allow: bool,

    /// Allow the call, and the tool in its project while its definition is unchanged
    #[arg(long, group = "answer")]
    pub always: bool,

    /// Deny the call
    #[arg(long, group = "answer")]
    pub deny: bool,

    /// Reason of a denial, which the model gets
    #[arg(long, requires = "deny", value_name = "TEXT")]
    pub reason: Option<String>,

    /// Accept a page, a form with this content, or a request to the model with this result
    #[arg(long, group = "answer", value_name = "JSON", num_args = 0..=1, default_missing_value = "{}")]
    pub accept: Option<String>,

    /// Decline
    #[arg(long, group = "answer")]
    pub decline: bool,

    /// Dismiss the question without an answer
    #[arg(long, group = "answer")]
    pub cancel: bool,
}
