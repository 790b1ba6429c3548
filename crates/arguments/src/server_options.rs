//! Options of the commands that connect to servers: `tools`, `call`, `wait-ready`, `reconnect`, `logs`,
//! `doctor`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mcparley::catalog::Dialect;
use mcparley::model::log_level::LogLevel;

use super::{AgentOption, CompletionSource};

/// List the tools of servers
///
/// Prints the tools of each server, one line per tool: its signature, description and declared effect, cut
/// to the width of the terminal; then the servers without tools and the reason. With a tool, or `-v`, prints
/// a page per tool with all arguments. Tool lists are cached for a day, so servers need not start; a local
/// server whose files changed is asked again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley tools
  mcparley tools files
  mcparley tools files.read_file              # the page of one tool
  mcparley tools files read_file --schema
  mcparley tools --for openai
  mcparley tools -- npx -y @modelcontextprotocol/server-everything
  mcparley tools https://example.com/mcp      # try a server without adding it

If a server is named and does not work, the exit code gives the reason. Otherwise servers that do not work are listed
below the tools.")]
pub struct ToolsArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// Only this server, or one tool as `server.tool` or `mcp__server__tool`
    #[arg(add = CompletionSource::CallTargets)]
    pub server: Option<String>,

    /// Only this tool, in full
    #[arg(add = CompletionSource::Tools)]
    pub tool: Option<String>,

    /// Print the JSON Schemas of arguments and result too
    #[arg(long)]
    pub schema: bool,

    /// Ignore the cache
    #[arg(long)]
    pub refresh: bool,

    /// Print the tools in the format of this model API
    ///
    /// Prints the value of `tools` in a request, always as JSON. Schemas that the API does not accept are
    /// rewritten. A tool that cannot be expressed is left out, with the reason on standard error.
    #[arg(long = "for", value_name = "API", value_parser = dialect_parser())]
    pub dialect: Option<Dialect>,
}

/// Parser of `--for`, which lists the names of the APIs so that shells can complete them.
fn dialect_parser() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str)).try_map(|name| name.parse::<Dialect>())
}

/// Wait until servers are ready
///
/// Connects to the servers and retries those that fail, until all are ready or the timeout expires. Then
/// prints one line per server. The exit code is 0 if all are ready, and otherwise the reason of a server that
/// is not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley wait-ready
  mcparley wait-ready database search --timeout 60000
  mcparley wait-ready --required")]
pub struct WaitReadyArgs {
    /// The servers [default: all that may run]
    #[arg(add = CompletionSource::Servers)]
    pub servers: Vec<String>,

    /// Only servers with `required` in their entry
    #[arg(long, conflicts_with = "servers")]
    pub required: bool,

    /// Timeout in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

/// Reconnect to a server, here and in every running `serve`
///
/// Checks the server now, regardless of earlier failures, and prints the line that `list` prints for it.
/// Every running `mcparley serve` with this server drops its connection and reconnects; running calls may
/// finish for some seconds.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mcparley reconnect database

The exit code is 0 if the server works here, 9 if it does not, and 12 if it needs a sign-in.")]
pub struct ReconnectArgs {
    /// The server
    #[arg(add = CompletionSource::Servers)]
    pub name: String,
}

/// Call a tool
///
/// Typing the command is consent; only a rule that asks does so, on a terminal. Deny rules, policy and
/// approvals still apply. Text of the result is printed unchanged, on a terminal without control sequences.
/// Exits with code 8 if the tool returns an error.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcparley call [OPTIONS] <SERVER.TOOL> [ARGUMENTS]…\n       \
                      mcparley call [OPTIONS] <SERVER> <TOOL> [ARGUMENTS]…\n       \
                      mcparley call [OPTIONS] <mcp__SERVER__TOOL> [ARGUMENTS]…\n       \
                      mcparley call [OPTIONS] <URL> <TOOL> [ARGUMENTS]…\n       \
                      mcparley call [OPTIONS] -- <COMMAND>… -- <TOOL> [ARGUMENTS]…",
    after_help = "\
Arguments of the tool:
  key=text           one argument, converted to the type in the tool's schema;
                     repeat it to add elements to an array
  outer.key=text     a property of an object
  key=@file          text from a file; `key=@-` from standard input
  key:=json          JSON, regardless of the schema; `key:='\"@x\"'` is text that
                     begins with @
  --key text, --key=text, --flag, --no-flag
                     the same as options; @ has no special meaning
  '{\"key\": 1}'       all arguments as a JSON object
  -                  all arguments as a JSON object from standard input
  --help             show the arguments of the tool

Examples:
  mcparley call files.read_file path=README.md
  mcparley call files write_file --path notes.txt --content 'two words'
  mcparley call db.query '{\"sql\": \"SELECT 1\"}' --json
  mcparley call git.commit message=@message.txt all:=true
  jq -n '{a: 1, b: 2}' | mcparley call everything.get-sum -
  mcparley call https://example.com/mcp search query=rust
  mcparley call -- uvx mcp-server-time -- get_current_time timezone=UTC

A command or URL in place of the server is used for this call and not added. Options of this command and
`--json` may also follow the tool, unless the tool has an argument of that name. After `--` every option
belongs to the tool."
)]
pub struct CallArgs {
    /// The agent that makes the call.
    #[command(flatten)]
    pub seen_by: AgentOption,

    /// The options of `call`.
    #[command(flatten)]
    pub options: CallCommandOptions,

    /// The server, or the tool as `server.tool` or `mcp__server__tool`
    #[arg(value_name = "SERVER", add = CompletionSource::CallTargets)]
    pub target: String,

    /// The tool, unless the first word names it, and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TOOL and ARGUMENTS",
        add = CompletionSource::CallWords
    )]
    pub words: Vec<String>,
}

/// Options of `call` that may also follow the tool's name.
#[derive(Clone, Debug, Default, Args)]
pub struct CallCommandOptions {
    /// Timeout in milliseconds, restarted by each progress message
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,

    /// Write the only image, audio clip or file of the result to this file; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "save")]
    pub output: Option<PathBuf>,

    /// Write all images, audio clips and files of the result to this folder
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,

    /// Let the daemon make the call, print the id of its task, and do not wait: `mcparley tasks` shows the result
    #[arg(long, conflicts_with_all = ["output", "save"])]
    pub detach: bool,

    /// How long the result of a detached call is kept after its end [default: 86400, a day]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub ttl: Option<u64>,
}

/// Print the state of all servers as JSON
///
/// Connects to every server that may run, and prints servers, tools, resources, prompts and tool names as one
/// JSON document, with or without `--json`. Secrets are masked.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mcparley state | jq '.servers'")]
pub struct StateArgs {
    /// The agent that the servers are shown for.
    #[command(flatten)]
    pub seen_by: AgentOption,
}

/// Show the logs of servers
///
/// Prints events and standard error of servers from earlier runs in this project. Starts no server. A run
/// without problems leaves no log. Secrets of a server's entry are masked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley logs
  mcparley logs files -n 20
  mcparley logs files --level warning
  mcparley logs -f            # and new lines as they come, until Ctrl-C")]
pub struct LogsArgs {
    /// The server [default: all configured servers]
    #[arg(add = CompletionSource::Servers)]
    pub server: Option<String>,

    /// Minimum level of log messages from servers
    #[arg(long, value_name = "LEVEL", value_parser = log_level_parser())]
    pub level: Option<LogLevel>,

    /// Number of lines to show per server
    #[arg(short = 'n', long, value_name = "N", default_value = "100")]
    pub lines: usize,

    /// Keep running and print new lines as they are written, until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,
}

fn log_level_parser() -> impl clap::builder::TypedValueParser<Value = LogLevel> {
    PossibleValuesParser::new(LogLevel::ALL.map(LogLevel::as_str)).try_map(|word| word.parse::<LogLevel>())
}

/// Diagnose servers that do not work
///
/// Checks each step of connecting to every server that may run: program or address, handshake, lists. For a
/// server that does not work it prints the cause, the fix, the time of each step and the last lines of
/// standard error; for a server that may not run, the reason. It also checks files, folders, environment
/// variables and programs. Secrets are masked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley doctor
  mcparley doctor files --json
  mcparley doctor -- npx -y @modelcontextprotocol/server-everything

The exit code is 0 if every server that may run works, 9 if one does not, and 3 if a file or an entry is invalid. If a
named server may not run, the exit code is the reason: 4 blocked, 6 shadowed, 10 disabled.")]
pub struct DoctorArgs {
    /// Only these servers
    #[arg(add = CompletionSource::Servers)]
    pub servers: Vec<String>,
}
