//! Options of the commands about prompts, resources and skills.

use std::path::PathBuf;

use clap::Args;

use super::{AgentOption, CompletionSource};

/// List the prompts of servers
///
/// Prints one line per prompt: its usage and its description. Arguments in brackets are optional. Prompt
/// lists are cached for a day, so servers need not start.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley prompts
  mcparley prompts notes --json
  mcparley prompts -- npx -y @modelcontextprotocol/server-everything")]
pub struct PromptsArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Only this server
    #[arg(add = CompletionSource::Servers)]
    pub server: Option<String>,

    /// Ignore the cache
    #[arg(long)]
    pub refresh: bool,
}

/// Print the messages of a prompt
///
/// The server builds messages from the prompt and its arguments. Their text is printed unchanged, on a
/// terminal without control sequences. Arguments are given by position or as name=value.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcparley prompt [OPTIONS] <SERVER> <PROMPT> [ARGUMENTS]…\n       \
                      mcparley prompt [OPTIONS] <mcp__SERVER__PROMPT> [ARGUMENTS]…\n       \
                      mcparley prompt [OPTIONS] -- <COMMAND>… -- <PROMPT> [ARGUMENTS]…",
    after_help = "\
Examples:
  mcparley prompt notes summarize
  mcparley prompt mcp__git__review main style='short and dry'
  mcparley prompt notes greet --json -- -5"
)]
pub struct PromptArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// The server, or the full name of the prompt, `mcp__server__prompt`
    #[arg(value_name = "SERVER", add = CompletionSource::Servers)]
    pub target: String,

    /// The prompt, unless its full name was given, and its arguments
    #[arg(value_name = "PROMPT and ARGUMENTS")]
    pub words: Vec<String>,
}

/// List the resources of servers
///
/// Prints one line per resource: its server, URI and description; then the resource templates. Resource lists
/// are cached for a day, so servers need not start.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley resources
  mcparley resources notes --templates
  mcparley resources --json
  mcparley resources https://example.com/mcp")]
pub struct ResourcesArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Only this server
    #[arg(add = CompletionSource::Servers)]
    pub server: Option<String>,

    /// Only resource templates
    #[arg(long)]
    pub templates: bool,

    /// Ignore the cache
    #[arg(long)]
    pub refresh: bool,
}

/// Print a resource
///
/// Text is printed unchanged, on a terminal without control sequences. Binary content is written to a file or
/// a pipe, never to a terminal. With values, the URI is a template that the values fill in.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley read notes notes://today
  mcparley read camera shot://last --output last.png
  mcparley read -- npx -y @modelcontextprotocol/server-everything -- demo://x
  mcparley read notes 'notes://{day}/{name}' day=monday name=plan")]
pub struct ReadArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// The server
    #[arg(add = CompletionSource::Servers)]
    pub server: String,

    /// The URI, or a URI template
    #[arg(value_name = "URI")]
    pub uri: String,

    /// Values for the template, as name=value
    #[arg(value_name = "NAME=VALUE")]
    pub values: Vec<String>,

    /// Write the resource to this file; `-` is standard output, even on a terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// List the skills of servers, or print one
///
/// Prints one line per skill: its server, name and description. With a skill, prints its `SKILL.md`; with a
/// file, prints that file. Only content that the server listed is read, and none of it is run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley skills
  mcparley skills billing refunds
  mcparley skills billing skill://billing/refunds/SKILL.md examples/email.md")]
pub struct SkillsArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Only this server
    #[arg(add = CompletionSource::Servers)]
    pub server: Option<String>,

    /// Print this skill, by its name or its URI
    pub skill: Option<String>,

    /// Print this file of the skill
    pub file: Option<String>,

    /// Ignore the cache
    #[arg(long)]
    pub refresh: bool,
}
