//! Options of the commands that talk to servers.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use mcparley::model::log_level::LogLevel;

use mcparley::Dialect;

use super::SeenBy;
use crate::arguments::Own;
use crate::complete;
use crate::error::CommandError;

/// Show the tools of the servers
///
/// One line per tool: the name a model sees, what it says about its effects, and what it does. Behind them
/// stands what became of every server that offers none. With a tool's name, or `-v`, whole entries with the
/// schema of their arguments. What a server offers is remembered for a day, so that it need not run for this; a
/// local server whose files have changed is asked again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley tools
  mcparley tools files
  mcparley tools files read_file
  mcparley tools mcp__files__read_file --json
  mcparley tools --for openai

When a server is named and cannot be used, the exit code says why; otherwise what is missing is told below.")]
pub struct ToolsArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// Only this server; or the whole name of one tool, `mcp__server__tool`
    #[arg(add = ArgValueCompleter::new(complete::targets))]
    pub server: Option<String>,

    /// Only this tool, with all there is to know about it
    #[arg(add = ArgValueCompleter::new(complete::tools))]
    pub tool: Option<String>,

    /// Ask the servers, though it is remembered what they offer
    #[arg(long)]
    pub refresh: bool,

    /// Print the list as a request to this model's API has it
    ///
    /// The value of `tools`, always as JSON. Schemas that the API does not take are rewritten; a tool that cannot be told
    /// is left out, and the reason told on standard error.
    #[arg(long = "for", value_name = "API", value_parser = dialect_words())]
    pub dialect: Option<Dialect>,
}

/// The APIs by their names, so that completion knows them.
fn dialect_words() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::as_str)).try_map(|name| name.parse::<Dialect>())
}

/// Wait until servers answer
///
/// Reaches the servers, and tries those that fail again and again, until all answer or the time is up. Then one line
/// says what became of each. The exit code is 0 when all answer; otherwise it says why one does not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley wait-ready
  mcparley wait-ready database search --timeout 60000
  mcparley wait-ready --required")]
pub struct WaitReadyArgs {
    /// The servers; all that may run if none is named
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub servers: Vec<String>,

    /// Only the servers whose entries say `required`
    #[arg(long, conflicts_with = "servers")]
    pub required: bool,

    /// How long to wait, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

/// Connect anew to a server, here and in every running `serve`
#[derive(Debug, Args)]
#[command(after_help = "\
Tries the server now, whatever became of it before, and prints the line that `list` prints for it. Every running
`mcparley serve` that has the server drops its connection and connects anew; calls that run may finish for some
seconds. The exit code is 0 when the server works here, 9 when it does not, 12 when it wants a sign-in.

Example:
  mcparley reconnect database")]
pub struct ReconnectArgs {
    /// The server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub name: String,
}

/// Call a tool
///
/// What you type is your consent: nothing is asked. Deny rules, policy and approval still hold. Text of the
/// result is printed as it is; on a terminal without what would drive it. Ends with code 8 when the tool says
/// that it failed.
#[derive(Debug, Args)]
#[command(
    override_usage = "mcparley call [OPTIONS] <SERVER> <TOOL> [ARGUMENTS]…\n       \
                      mcparley call [OPTIONS] <mcp__SERVER__TOOL> [ARGUMENTS]…",
    after_help = "\
Arguments of the tool:
  {\"key\": 1}            a JSON object
  -                     a JSON object on standard input
  key=text              one argument, of the kind the tool's schema wants; again for one more element
  outer.key=text        inside of an object
  key=@file  key=@-     its text from a file, or from standard input
  key:=json             JSON, whatever the schema says; `key:='\"@x\"'` for a text that begins with @
  --key text  --key=text  --flag  --no-flag
                        the same as options; @ has no meaning here
  --help                what the tool takes

Examples:
  mcparley call files read_file path=README.md
  mcparley call files write_file --path notes.txt --content 'two words'
  mcparley call db query '{\"sql\": \"SELECT 1\"}' --json
  mcparley call mcp__git__log --max-count 3

Options of this command and `--json` may also stand behind the tool, unless the tool has one of that name;
behind `--` every option is the tool's."
)]
pub struct CallArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,

    /// How to call it.
    #[command(flatten)]
    pub options: CallOptions,

    /// The server; or the tool's whole name `mcp__server__tool`
    #[arg(value_name = "SERVER", add = ArgValueCompleter::new(complete::targets))]
    pub target: String,

    /// The tool, unless its whole name was given, and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TOOL and ARGUMENTS",
        add = ArgValueCompleter::new(complete::words)
    )]
    pub words: Vec<String>,
}

/// How to call a tool.
#[derive(Clone, Debug, Default, Args)]
pub struct CallOptions {
    /// How long the call may take without a sign of progress, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,

    /// Write the one image, sound or file of the result to this file; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "save")]
    pub output: Option<PathBuf>,

    /// Write every image, sound and file of the result to this folder
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
}

/// Show everything that is known, as JSON
///
/// Connects to every server that may run, and prints servers, tools, resources, prompts and the names of tools
/// as one JSON document, with or without `--json`. Secrets are masked.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// Whose view it is.
    #[command(flatten)]
    pub seen_by: SeenBy,
}

/// Show what happened to servers, and what they wrote to their standard error
///
/// Reads what was kept of earlier runs in this project; no server is started. A run without trouble leaves
/// nothing to read. Without a name, all configured servers. Secrets of a server's entry are masked.
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// The server
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub server: Option<String>,

    /// Of the log messages of servers only those that are at least that important
    #[arg(long, value_name = "LEVEL", value_parser = level())]
    pub level: Option<LogLevel>,

    /// How many of the last lines to show of each server
    #[arg(short = 'n', long, value_name = "N", default_value = "100")]
    pub lines: usize,
}

fn level() -> impl clap::builder::TypedValueParser<Value = LogLevel> {
    PossibleValuesParser::new(LogLevel::ALL.map(LogLevel::as_str)).try_map(|word| word.parse::<LogLevel>())
}

/// Find out why servers do not work, and what to do about it
///
/// Tries every server that may run: its program or its address, its greeting, its lists. Of each that does not work it
/// tells the cause, what to do, how long each part took and what the server wrote last; of those that may not run, the
/// reason. Around the servers it looks at files, folders, variables and programs. Secrets are masked.
#[derive(Debug, Args)]
#[command(after_help = "\
Ends with code 0 when every server that may run works, 9 when one does not, and 3 when a file or an entry cannot be
used. A named server that may not run ends with the code of its reason: 4 blocked, 6 shadowed, 10 switched off.")]
pub struct DoctorArgs {
    /// Only these servers
    #[arg(add = ArgValueCandidates::new(complete::servers))]
    pub servers: Vec<String>,
}

/// What may also stand behind the tool.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Behind {
    #[command(flatten)]
    options: CallOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Tell more
    #[arg(long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl CallOptions {
    /// The options that may stand behind the tool.
    pub(crate) fn behind() -> Vec<Own> {
        let command = Behind::command();
        let own = |argument: &clap::Arg| {
            let takes_value = argument.get_action().takes_values();
            Some(Own { name: argument.get_long()?.to_owned(), takes_value })
        };
        command.get_arguments().filter_map(own).collect()
    }

    /// These, and those that stood behind the tool, which win; and whether JSON was asked for there.
    pub(crate) fn with(&self, behind: &[String]) -> Result<(Self, bool), CommandError> {
        let Behind { options, json, verbose: _ } = Behind::try_parse_from(behind).map_err(|error| {
            let text = error.to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            CommandError::Usage { message: message.to_owned(), hint: None }
        })?;
        let Self { timeout, output, save } = self.clone();
        // Only one place to write to: the one that was named last.
        let named = options.output.is_some() || options.save.is_some();
        let (output, save) = if named { (options.output, options.save) } else { (output, save) };
        Ok((Self { timeout: options.timeout.or(timeout), output, save }, json))
    }
}
