//! Options of the commands about what servers offer besides tools.

use std::path::PathBuf;

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

/// Show the resources of the servers
///
/// One line per resource: its server, its address and what it is; then the templates of further addresses. What a server
/// offers is remembered for a day, so that it need not run for this.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley resources
  mcparley resources notes --templates
  mcparley resources --json")]
pub struct ResourcesArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Only this server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: Option<String>,

    /// Only the templates
    #[arg(long)]
    pub templates: bool,

    /// Ask the servers, though it is remembered what they offer
    #[arg(long)]
    pub refresh: bool,
}

/// Print a resource
///
/// Text is printed as it is; on a terminal without what would drive it. Bytes go to a file or through a pipe as they are,
/// and never to a terminal. With values, the address is a template and they fill it in.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley read notes notes://today
  mcparley read camera shot://last --output last.png
  mcparley read notes 'notes://{day}/{name}' day=monday name=plan")]
pub struct ReadArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// The server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: String,

    /// The address, or a template of one
    #[arg(value_name = "URI")]
    pub uri: String,

    /// The values of a template, as name=value
    #[arg(value_name = "NAME=VALUE")]
    pub values: Vec<String>,

    /// Write it to this file; `-` is standard output, a terminal too
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Show the skills of the servers
///
/// One line per skill: its server, its name and what it is good for. With a skill, its `SKILL.md`; with a file too, that
/// file. What is read must be what its server listed; nothing of it is run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley skills
  mcparley skills billing refunds
  mcparley skills billing skill://acme/billing/refunds/SKILL.md examples/email.md")]
pub struct SkillsArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Only this server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: Option<String>,

    /// Print this skill, by its name or its address
    pub skill: Option<String>,

    /// Print this file of the skill
    pub file: Option<String>,

    /// Ask the servers, though it is remembered what they offer
    #[arg(long)]
    pub refresh: bool,
}
