//! Rewrites the command line before clap parses it: free word order, and command names of Claude Code.
//!
//! All accepted forms are rewritten to the one form that clap reads, so that there is one grammar.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{FromArgMatches, Parser};

use super::command_table::{global_command, is_command_name, narrow_command, own_command};
use super::option_table::OptionTable;
use super::{Cli, GlobalOptions, McpCommand, RootCommand, add_words, help_command, typed_server};

/// Parses the command line.
///
/// After a URL, and at the end of a command, `add` accepts options again. After the full name of a tool every
/// word belongs to that tool. `--version` prints `long_version`.
///
/// # Errors
/// The error of clap; `--help` and `--version` are reported as errors too.
pub fn parse(arguments: &[OsString], long_version: &'static str) -> Result<Cli, clap::Error> {
    if let Some(cli) = parse_tool_call(arguments) {
        return Ok(cli);
    }
    arrange_words(arguments)
        .and_then(|words| parse_words(&words, long_version))
        .map(typed_server::declare_typed_urls)
}

/// Parses arranged words. Help and errors come from the tree for people, which is built only for them.
fn parse_words(words: &[OsString], long_version: &'static str) -> Result<Cli, clap::Error> {
    parse_with(narrow_command(words).long_version(long_version), words).or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => parse_with(help_command(), words),
    })
}

fn parse_with(mut command: clap::Command, words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Rewrites the command line to the one form that clap reads.
fn arrange_words(arguments: &[OsString]) -> Result<Vec<OsString>, clap::Error> {
    let command = global_command();
    let global = OptionTable::from_commands(&[&command]);
    let arguments = repeat_mcp_config(arguments);
    let Some(place) = command_index(&arguments, &global) else { return Ok(arguments) };
    let (before, words) = arguments.split_at(place);
    let Some(verb) = words.first().and_then(|word| word.to_str()) else { return Ok(arguments) };
    let table = || {
        let own = own_command(verb);
        OptionTable::from_commands(&own.iter().chain([&command]).collect::<Vec<_>>())
    };
    let arranged = match verb {
        "add" => {
            let behind = words.get(1..).unwrap_or_default();
            let arranged = add_words::arrange_add_words(behind, &table())?;
            arranged.map(|arranged| [OsString::from("add")].into_iter().chain(arranged).collect())
        }
        // `mcparley mcp help` is `mcparley help`.
        "help" => return Ok(arguments.iter().take(1).chain(words).cloned().collect()),
        _ => translate_claude_command(words),
    };
    let arranged = match arranged {
        None if words.iter().any(|word| word == "--") => {
            typed_server::declare_typed_command(words, &table())?
        }
        arranged => arranged,
    };
    let arranged = match arranged {
        None if verb == "call" => typed_server::mark_tool_path(words, &table()),
        arranged => arranged,
    };
    Ok(match arranged {
        Some(arranged) => before.iter().cloned().chain(arranged).collect(),
        None => arguments,
    })
}

/// Parses the global options of a command line without a command, which opens the console; `None` for any
/// other one. `error` is the error of [`parse`].
#[must_use]
pub fn parse_console(arguments: &[OsString], error: &clap::Error) -> Option<GlobalOptions> {
    /// The options of the console.
    #[derive(Parser)]
    #[command(disable_help_flag = true)]
    struct ConsoleCli {
        #[command(flatten)]
        global: GlobalOptions,
    }
    let lacks_command = matches!(
        error.kind(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let arguments = lacks_command.then(|| repeat_mcp_config(arguments))?;
    let global = ConsoleCli::try_parse_from(arguments).ok()?.global;
    // JSON is for scripts, which have no use for a console.
    (!global.json).then_some(global)
}

/// Adds the command `screen` to a command line that names none after `mcp`: for a user on a terminal.
#[must_use]
pub fn open_screen_by_default(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.last().is_some_and(|word| word == "mcp") {
        let global = OptionTable::from_commands(&[&global_command()]);
        if command_index(&arguments, &global).is_none() {
            arguments.push("screen".into());
        }
    }
    arguments
}

/// Translates a command of Claude Code that has another name here.
fn translate_claude_command(words: &[OsString]) -> Option<Vec<OsString>> {
    let word = |index: usize| words.get(index).and_then(|word| word.to_str());
    let (ours, used): (&[&str], usize) = match (word(0)?, word(1)) {
        ("add-from-claude-desktop", _) => (&["import", "claude-desktop"], 1),
        ("xaa", Some("show")) => (&["auth", "idp", "status"], 2),
        ("xaa", _) => (&["auth", "idp"], 1),
        _ => return None,
    };
    Some(ours.iter().map(OsString::from).chain(words.iter().skip(used).cloned()).collect())
}

/// The index of the command, with or without `mcp` before it.
fn command_index(arguments: &[OsString], global: &OptionTable) -> Option<usize> {
    let mut rest = arguments.get(1..)?;
    loop {
        let (word, behind) = rest.split_first()?;
        if let Some(taken) = global.take_option(rest) {
            rest = taken.rest;
        } else if word == "mcp" {
            rest = behind;
        } else {
            return Some(arguments.len() - rest.len());
        }
    }
}

/// Rewrites `--mcp-config A B` as `--mcp-config A --mcp-config B`.
///
/// Before the command every word except a command is a value; after the command only JSON files and JSON text
/// are, because commands take arguments of their own. After `add` all words are left unchanged.
fn repeat_mcp_config(arguments: &[OsString]) -> Vec<OsString> {
    const OPTION: &str = "--mcp-config";
    let place = first_command_index(arguments);
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
        if is_taking && !is_option && (index < place || is_server_config(&text)) {
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

/// The index of the first word that is a command name.
fn first_command_index(arguments: &[OsString]) -> usize {
    let is_command = |word: &OsString| is_command_name(&word.to_string_lossy());
    arguments.iter().skip(1).position(is_command).map_or(arguments.len(), |place| place + 1)
}

fn is_server_config(word: &str) -> bool {
    let is_file = word.ends_with(".json") && !word.contains("://") && !word.contains('=');
    is_file || (word.starts_with('{') && word.contains("\"mcpServers\""))
}

/// Parses `call mcp__server__tool …`; `None` for any other command line.
///
/// The words after the tool belong to the tool. Without an inserted `--` clap would parse the first option
/// after it as an option of `call`. The same two words as arguments of a server that is added are no such
/// call.
fn parse_tool_call(arguments: &[OsString]) -> Option<Cli> {
    let called = arguments.iter().position(|word| word == "call")?;
    let is_tool = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("mcp__"));
    let behind = called + arguments.iter().skip(called).position(is_tool)? + 1;
    let mut marked = arguments.to_vec();
    marked.insert(behind, "--".into());
    let cli = parse_with(narrow_command(&marked), &marked).ok()?;
    match &cli.command {
        RootCommand::Mcp { command: McpCommand::Call(args) }
        | RootCommand::Direct(McpCommand::Call(args)) => args.target.starts_with("mcp__").then_some(cli),
        RootCommand::Mcp { .. }
        | RootCommand::Direct(_)
        | RootCommand::Completions { .. }
        | RootCommand::Help(_) => None,
    }
}
