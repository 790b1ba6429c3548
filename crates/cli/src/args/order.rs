//! Lets options stand where people write them: also behind a URL, and behind a tool.

use std::ffi::OsString;

use clap::Parser;

use super::{AddArgs, Cli, Command, McpCommand};

/// Parses the command line.
///
/// Behind a URL `add` takes options again: they are moved before it and everything is parsed once more, so
/// that there is one grammar for them. Behind the whole name of a tool every word is for that tool.
///
/// # Errors
/// What clap says, help and version included.
pub fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    if let Some(cli) = call_of_tool(&arguments) {
        return Ok(cli);
    }
    let cli = Cli::try_parse_from(&arguments)?;
    let Some((url, behind)) = cli.behind_url() else { return Ok(cli) };
    let mut moved = arguments;
    let options = moved.split_off(moved.len().saturating_sub(behind));
    let at = moved.len().saturating_sub(1);
    moved.splice(at..at, options);
    let again = Cli::try_parse_from(&moved)?;
    match again.add_args() {
        Some(args) if args.target == [url] => Ok(again),
        // Words that are no options: the first reading is the one to complain about.
        Some(_) | None => Ok(cli),
    }
}

/// The command line, if it is `call mcp__server__tool …`.
///
/// What follows belongs to the tool; without a mark the first option behind it would be taken for one of ours.
/// Where the two words mean something else, as arguments of a server that is added, this is no such call.
fn call_of_tool(arguments: &[OsString]) -> Option<Cli> {
    let called = arguments.iter().position(|word| word == "call")?;
    let is_tool = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("mcp__"));
    let behind = called + arguments.iter().skip(called).position(is_tool)? + 1;
    let mut marked = arguments.to_vec();
    marked.insert(behind, "--".into());
    let cli = Cli::try_parse_from(marked).ok()?;
    match &cli.command {
        Command::Mcp { command: McpCommand::Call(args) } | Command::Direct(McpCommand::Call(args)) => {
            args.target.starts_with("mcp__").then_some(cli)
        }
        Command::Mcp { .. } | Command::Direct(_) | Command::Completions { .. } => None,
    }
}

impl Cli {
    fn add_args(&self) -> Option<&AddArgs> {
        match &self.command {
            Command::Mcp { command: McpCommand::Add(args) } | Command::Direct(McpCommand::Add(args)) => {
                Some(args)
            }
            Command::Mcp { .. } | Command::Direct(_) | Command::Completions { .. } => None,
        }
    }

    /// The URL to add and how many words follow it.
    fn behind_url(&self) -> Option<(String, usize)> {
        let args = self.add_args()?;
        let (first, rest) = args.target.split_first()?;
        (args.is_remote() && !rest.is_empty()).then(|| (first.clone(), rest.len()))
    }
}

impl AddArgs {
    /// Whether a URL is added, and not a command that looks like one.
    pub(crate) fn is_remote(&self) -> bool {
        let scheme =
            self.target.first().and_then(|word| word.split_once("://")).map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        is_scheme && self.options.transport.as_deref() != Some("stdio")
    }
}
