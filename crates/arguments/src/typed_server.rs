//! Servers that are typed on the command line instead of named: `tools -- npx -y pkg`, `call https://… tool`.
//!
//! Such a server is declared for this run, as with `--mcp-server`, under a name made from its package or host,
//! and the name takes the place of the typed words. Typing a command is consent to run it, and nothing is
//! written to a configuration file.

use std::ffi::OsString;

use clap::error::ErrorKind;
use mcparley::config::InlineServer;

use super::option_table::OptionTable;
use super::{Cli, McpCommand, RootCommand};

/// The commands that take a server as their first word; the command of a server may stand there after `--`.
const LISTING: [&str; 5] = ["tools", "resources", "prompts", "skills", "doctor"];

/// Those that need further words, which follow the command of the server after a second `--`.
const USING: [(&str, &str); 3] =
    [("call", "TOOL [ARGUMENTS]…"), ("read", "URI"), ("prompt", "PROMPT [ARGUMENTS]…")];

/// Replaces the command of a server after `--` by the name of a server declared for this run; `None` if the
/// words have no such command.
///
/// # Errors
/// The words after the command of the server are missing.
pub(super) fn declare_typed_command(
    words: &[OsString],
    table: &OptionTable,
) -> Result<Option<Vec<OsString>>, clap::Error> {
    let Some(TypedWords { verb, front, positionals, behind }) = TypedWords::parse_words(words, table) else {
        return Ok(None);
    };
    let is_search = verb == "search" && !positionals.is_empty();
    let is_first = positionals.is_empty() && is_server_verb(&verb);
    if !is_search && !is_first {
        return Ok(None);
    }
    // The next `--` ends the command of the server.
    let end = behind.iter().position(|word| word == "--");
    let (command, rest) = behind.split_at(end.unwrap_or(behind.len()));
    if let (Some((_, needed)), None) = (USING.iter().find(|(name, _)| *name == verb), end) {
        return Err(missing_words_error(&verb, command, needed));
    }
    let Some(server) = InlineServer::from_command(command) else { return Ok(None) };
    let mut given = vec![OsString::from(&verb)];
    given.extend(front);
    given.extend(["--mcp-server".into(), OsString::from(server.to_text())]);
    if is_search {
        given.push("--server".into());
    }
    given.push(server.name().into());
    given.extend(positionals.into_iter().chain(rest.iter().skip(1).map(OsString::from)));
    Ok(Some(given))
}

/// The words of a command before and after the first `--`.
struct TypedWords {
    verb: String,
    /// The options before `--`.
    front: Vec<OsString>,
    /// The words before `--` that are no options.
    positionals: Vec<OsString>,
    /// The words after `--`.
    behind: Vec<String>,
}

impl TypedWords {
    fn parse_words(words: &[OsString], table: &OptionTable) -> Option<Self> {
        let (verb, mut rest) = words.split_first()?;
        let (mut front, mut positionals) = (Vec::new(), Vec::new());
        loop {
            let (word, behind) = rest.split_first()?;
            if word == "--" {
                let behind =
                    behind.iter().map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
                return Some(Self { verb: verb.to_str()?.to_owned(), front, positionals, behind });
            }
            match table.take_option(rest) {
                Some(taken) => {
                    front.extend(taken.words);
                    rest = taken.rest;
                }
                None => {
                    positionals.push(word.clone());
                    rest = behind;
                }
            }
        }
    }
}

fn is_server_verb(verb: &str) -> bool {
    LISTING.contains(&verb) || USING.iter().any(|(name, _)| *name == verb)
}

fn missing_words_error(verb: &str, command: &[String], needed: &str) -> clap::Error {
    let message = format!(
        "the command of the server needs a `--` after it\n\n\
         hint: write `mcparley {verb} -- {} -- {needed}`\n",
        command.join(" ")
    );
    clap::Error::raw(ErrorKind::MissingRequiredArgument, message)
}

/// Marks the end of the options of `call` after `server.tool`: the words after it belong to the tool.
pub(super) fn mark_tool_path(words: &[OsString], table: &OptionTable) -> Option<Vec<OsString>> {
    let mut rest = words.get(1..)?;
    while let Some(taken) = table.take_option(rest) {
        rest = taken.rest;
    }
    let (target, behind) = rest.split_first()?;
    let target = target.to_str()?;
    let is_path = target.contains('.') && !target.contains("://") && !target.starts_with('-');
    let is_option = behind.first()?.to_str()?.starts_with('-');
    (is_path && is_option).then(|| {
        let (before, behind) = words.split_at(words.len() - behind.len());
        before.iter().cloned().chain(["--".into()]).chain(behind.iter().cloned()).collect()
    })
}

/// Declares the servers whose URLs stand in place of a name.
pub(super) fn declare_typed_urls(mut cli: Cli) -> Cli {
    let (RootCommand::Mcp { command } | RootCommand::Direct(command)) = &mut cli.command else { return cli };
    for word in server_words(command) {
        if let Some(server) = InlineServer::from_url(word) {
            cli.global.mcp_server.push(server.to_text());
            *word = server.name().to_owned();
        }
    }
    cli
}

/// The words of a command that name a server to use.
fn server_words(command: &mut McpCommand) -> Vec<&mut String> {
    match command {
        McpCommand::Tools(args) => args.server.iter_mut().collect(),
        McpCommand::Search(args) => args.server.iter_mut().collect(),
        McpCommand::Resources(args) => args.server.iter_mut().collect(),
        McpCommand::Prompts(args) => args.server.iter_mut().collect(),
        McpCommand::Skills(args) => args.server.iter_mut().collect(),
        McpCommand::Doctor(args) => args.servers.iter_mut().collect(),
        McpCommand::Call(args) => vec![&mut args.target],
        McpCommand::Prompt(args) => vec![&mut args.target],
        McpCommand::Read(args) => vec![&mut args.server],
        _ => Vec::new(),
    }
}
