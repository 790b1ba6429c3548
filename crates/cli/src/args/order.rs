//! Lets words stand where people write them, and takes the spellings of Claude Code.
//!
//! Everything is rewritten to the one form that clap reads, so that there is one grammar.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use super::option_table::OptionTable;
use super::{Cli, Command, McpCommand, add_words};

/// Parses the command line.
///
/// Behind a URL, and at the end of a command, `add` takes options again. Behind the whole name of a tool every word is
/// for that tool.
///
/// # Errors
/// What clap says, help and version included.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    if let Some(cli) = call_of_tool(arguments) {
        return Ok(cli);
    }
    let command = Cli::command();
    let global = OptionTable::of(&[&command]);
    let arguments = repeat_mcp_config(arguments, &command);
    let Some(place) = command_place(&arguments, &global) else { return Cli::try_parse_from(&arguments) };
    let (before, words) = arguments.split_at(place);
    let words = match words.first().and_then(|word| word.to_str()) {
        Some("add") => {
            let behind = words.get(1..).unwrap_or_default();
            let add = command.find_subcommand("add");
            let table = OptionTable::of(&add.into_iter().chain([&command]).collect::<Vec<_>>());
            let arranged = add_words::arrange(behind, &table)?;
            arranged.map(|arranged| [OsString::from("add")].into_iter().chain(arranged).collect())
        }
        Some(_) => spelled_otherwise(words),
        None => None,
    };
    match words {
        Some(words) => Cli::try_parse_from(before.iter().cloned().chain(words)),
        None => Cli::try_parse_from(&arguments),
    }
}

/// The commands of Claude Code that are called otherwise here.
fn spelled_otherwise(words: &[OsString]) -> Option<Vec<OsString>> {
    let word = |index: usize| words.get(index).and_then(|word| word.to_str());
    let (ours, used): (&[&str], usize) = match (word(0)?, word(1)) {
        ("add-from-claude-desktop", _) => (&["import", "claude-desktop"], 1),
        ("xaa", Some("show")) => (&["auth", "idp", "status"], 2),
        ("xaa", _) => (&["auth", "idp"], 1),
        _ => return None,
    };
    Some(ours.iter().map(OsString::from).chain(words.iter().skip(used).cloned()).collect())
}

/// Where the command stands, `mcp` before it or not.
fn command_place(arguments: &[OsString], global: &OptionTable) -> Option<usize> {
    let mut rest = arguments.get(1..)?;
    loop {
        let (word, behind) = rest.split_first()?;
        if let Some(taken) = global.take(rest) {
            rest = taken.rest;
        } else if word == "mcp" {
            rest = behind;
        } else {
            return Some(arguments.len() - rest.len());
        }
    }
}

/// Writes `--mcp-config A B` as `--mcp-config A --mcp-config B`.
///
/// Before the command every word but a command is one of them; behind it only files and servers in JSON are, because
/// commands take words of their own. Behind `add` all words are left to it.
fn repeat_mcp_config(arguments: &[OsString], command: &clap::Command) -> Vec<OsString> {
    const OPTION: &str = "--mcp-config";
    let place = first_command(arguments, command);
    let is_command_at = |index: usize| {
        index == place || (index == place + 1 && arguments.get(place).is_some_and(|word| word == "mcp"))
    };
    let mut repeated: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut is_taking = false;
    let mut words = arguments.iter().enumerate();
    while let Some((index, word)) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" || (text == "add" && is_command_at(index)) {
            repeated.push(word.clone());
            repeated.extend(words.map(|(_, word)| word.clone()));
            return repeated;
        }
        let is_option = text.starts_with('-');
        if is_taking && !is_option && (index < place || is_servers(&text)) {
            repeated.push(OPTION.into());
        } else {
            is_taking = text == OPTION || text.starts_with("--mcp-config=");
        }
        repeated.push(word.clone());
        if text == OPTION
            && let Some((_, value)) = words.next()
        {
            repeated.push(value.clone());
        }
    }
    repeated
}

/// Where the first word stands that is the name of a command.
fn first_command(arguments: &[OsString], command: &clap::Command) -> usize {
    let is_command = |word: &OsString| command.find_subcommand(&*word.to_string_lossy()).is_some();
    arguments.iter().skip(1).position(is_command).map_or(arguments.len(), |place| place + 1)
}

fn is_servers(word: &str) -> bool {
    let is_file = word.ends_with(".json") && !word.contains("://") && !word.contains('=');
    is_file || (word.starts_with('{') && word.contains("\"mcpServers\""))
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
