//! Parses a typed line: a slash command, a prompt, a tool call, a mention of a resource, or text for a model.
//!
//! Pure: names that only the host knows come in as [`KnownNames`].

mod error;
#[cfg(test)]
mod tests;

use super::known_names::KnownNames;
use super::slash_command::{CommandAction, SERVERS_COMMANDS, SlashCommand};
use super::words::SplitLine;
use mcparley::model::similar::similar_names;

pub(crate) use error::{InputError, suggest_names};

/// A parsed line of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConsoleInput {
    /// An empty line.
    Empty,
    /// `/mcp` and its commands.
    Servers(ServersCommand),
    /// A command of the command line, with its words.
    Program(Vec<String>),
    /// `/calls`
    Calls,
    /// `/last`
    LastResult,
    /// `/model`, with the name of another model.
    Model(Option<String>),
    /// `/clear`
    Clear,
    /// `/help`
    Help,
    /// `/quit`
    Quit,
    /// A prompt of a server: the whole line, which the library parses.
    Prompt(String),
    /// A call of a tool.
    Call(TypedCall),
    /// A line that is one mention of a resource.
    Mention(String),
    /// Text for a model.
    Text(String),
}

/// A command of `/mcp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServersCommand {
    /// Open the screen of the servers.
    OpenScreen,
    /// Enable this server, or all with `all`.
    Enable(String),
    /// Disable this server, or all with `all`.
    Disable(String),
    /// Connect to this server again.
    Reconnect(String),
    /// Sign in to this server.
    LogIn(String),
    LogOut(String),
    /// Add a server; the words after `add`.
    Add(Vec<String>),
}

/// A typed tool call: the tool and the words after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedCall {
    /// The tool.
    pub(crate) tool: TypedTool,
    /// The words of the arguments.
    pub(crate) words: Vec<String>,
}

/// The tool of a typed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedTool {
    /// By server, and the server's own name for the tool.
    OnServer {
        /// The server, which exists.
        server: String,
        /// The tool; it may be unknown until the server has connected.
        tool: String,
    },
    /// By its public name.
    Public(String),
}

/// Parses a line.
///
/// # Errors
/// An [`InputError`] for a command, server or tool that does not exist, or a call that is incomplete.
pub(crate) fn parse_line(line: &str, known: &KnownNames) -> Result<ConsoleInput, InputError> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(ConsoleInput::Empty);
    }
    let split = SplitLine::parse(line);
    match line.strip_prefix('/') {
        Some(_) if is_path(line) => Ok(ConsoleInput::Text(line.to_owned())),
        Some(_) => parse_slash(line, &split, known),
        None if is_mention(line, &split) => Ok(ConsoleInput::Mention(line.to_owned())),
        None => match find_call(&split, known)? {
            Some(call) => {
                require_closed(&split)?;
                Ok(ConsoleInput::Call(call))
            }
            None => Ok(ConsoleInput::Text(line.to_owned())),
        },
    }
}

/// Whether the first word is a path such as `/etc/hosts`, which no command is.
fn is_path(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.matches('/').count() > 1)
}

/// Whether the line is one `@server:uri` and nothing else.
fn is_mention(line: &str, split: &SplitLine) -> bool {
    line.starts_with('@') && line.contains(':') && split.words.len() == 1
}

fn parse_slash(line: &str, split: &SplitLine, known: &KnownNames) -> Result<ConsoleInput, InputError> {
    let name = split.text(0).and_then(|word| word.strip_prefix('/')).unwrap_or_default();
    let Some(command) = SlashCommand::find(name) else {
        // A prompt whose server is still connecting is not known yet: the library waits for it.
        if known.has_prompt(name) || name.starts_with("mcp__") {
            return Ok(ConsoleInput::Prompt(line.to_owned()));
        }
        return Err(InputError::UnknownCommand {
            name: name.to_owned(),
            similar: similar_names(name, known.command_names()),
        });
    };
    require_closed(split)?;
    let words = split.texts_after(1);
    match command.action {
        CommandAction::Servers => parse_servers(&words, known).map(ConsoleInput::Servers),
        CommandAction::Program(default) => Ok(ConsoleInput::Program(program_words(command, words, default))),
        CommandAction::Calls => without_words(command, &words, ConsoleInput::Calls),
        CommandAction::LastResult => without_words(command, &words, ConsoleInput::LastResult),
        CommandAction::Model => parse_model(command, words),
        CommandAction::Clear => without_words(command, &words, ConsoleInput::Clear),
        CommandAction::Help => Ok(ConsoleInput::Help),
        CommandAction::Quit => without_words(command, &words, ConsoleInput::Quit),
    }
}

fn program_words(command: &SlashCommand, words: Vec<String>, default: &[&str]) -> Vec<String> {
    let given = match words.is_empty() {
        true => default.iter().map(|&word| word.to_owned()).collect(),
        false => words,
    };
    [command.name.to_owned()].into_iter().chain(given).collect()
}

fn without_words(
    command: &SlashCommand,
    words: &[String],
    input: ConsoleInput,
) -> Result<ConsoleInput, InputError> {
    match words.first() {
        None => Ok(input),
        Some(word) => Err(InputError::SurplusWord { command: command.name, word: word.clone() }),
    }
}

fn parse_model(command: &SlashCommand, mut words: Vec<String>) -> Result<ConsoleInput, InputError> {
    let surplus = words.split_off(words.len().min(1));
    without_words(command, &surplus, ConsoleInput::Model(words.pop()))
}

fn parse_servers(words: &[String], known: &KnownNames) -> Result<ServersCommand, InputError> {
    let Some((command, words)) = words.split_first() else { return Ok(ServersCommand::OpenScreen) };
    // `/mcp enable` alone means all servers, as in Claude Code.
    let name_or_all = || match words {
        [] => Ok("all".to_owned()),
        [name] if name == "all" => Ok(name.clone()),
        [name] => known_server(name, known),
        [_, surplus, ..] => Err(InputError::SurplusWord { command: "mcp", word: surplus.clone() }),
    };
    let name = |usage| match words {
        [] => Err(InputError::ServerMissing { usage }),
        [name] => known_server(name, known),
        [_, surplus, ..] => Err(InputError::SurplusWord { command: "mcp", word: surplus.clone() }),
    };
    match command.as_str() {
        "enable" => name_or_all().map(ServersCommand::Enable),
        "disable" => name_or_all().map(ServersCommand::Disable),
        "reconnect" => name("/mcp reconnect SERVER").map(ServersCommand::Reconnect),
        "login" => name("/mcp login SERVER").map(ServersCommand::LogIn),
        "logout" => name("/mcp logout SERVER").map(ServersCommand::LogOut),
        "add" if words.is_empty() => Err(InputError::EntryMissing),
        "add" => Ok(ServersCommand::Add(words.to_vec())),
        command => Err(InputError::UnknownCommand {
            name: format!("mcp {command}"),
            similar: similar_names(command, SERVERS_COMMANDS.iter().map(|(name, _)| *name))
                .into_iter()
                .map(|name| format!("mcp {name}"))
                .collect(),
        }),
    }
}

fn known_server(name: &str, known: &KnownNames) -> Result<String, InputError> {
    match known.has_server(name) {
        true => Ok(name.to_owned()),
        false => Err(unknown_server_error(name, known)),
    }
}

fn unknown_server_error(name: &str, known: &KnownNames) -> InputError {
    InputError::UnknownServer {
        name: name.to_owned(),
        similar: similar_names(name, known.servers.iter().map(String::as_str)),
    }
}

/// The call that a line stands for; `None` for text.
///
/// Text may begin like a call (`git log shows …`), so a first word that names a server is not enough where a
/// model reads the rest.
fn find_call(split: &SplitLine, known: &KnownNames) -> Result<Option<TypedCall>, InputError> {
    let Some(first) = split.text(0) else { return Ok(None) };
    if first.starts_with("mcp__") || known.has_public_tool(first) {
        let tool = TypedTool::Public(first.to_owned());
        return Ok(Some(TypedCall { tool, words: split.texts_after(1) }));
    }
    if let Some((server, tool)) = known.split_dotted(first) {
        return Ok(Some(TypedCall {
            tool: TypedTool::OnServer { server: server.to_owned(), tool: tool.to_owned() },
            words: split.texts_after(1),
        }));
    }
    let rest = split.texts_after(1);
    if !known.has_server(first) {
        return find_misspelled_server(first, &rest, known);
    }
    let Some((tool, words)) = rest.split_first() else {
        return Err(InputError::ToolMissing { server: first.to_owned() });
    };
    let is_call = known.has_tool(first, tool)
        || !known.has_model
        || (!words.is_empty() && words.iter().all(|word| is_argument(word)));
    let on_server = || TypedTool::OnServer { server: first.to_owned(), tool: tool.clone() };
    Ok(is_call.then(|| TypedCall { tool: on_server(), words: words.to_vec() }))
}

/// Reports a line that is written like a call of a server that does not exist.
fn find_misspelled_server(
    first: &str,
    rest: &[String],
    known: &KnownNames,
) -> Result<Option<TypedCall>, InputError> {
    let (name, arguments) = match (first.split_once('.'), rest) {
        (Some((server, _)), arguments) => (server, arguments),
        (None, [_, arguments @ ..]) if !arguments.is_empty() => (first, arguments),
        (None, _) => return Ok(None),
    };
    let error = unknown_server_error(name, known);
    let is_like_call = arguments.iter().all(|word| is_argument(word));
    match &error {
        InputError::UnknownServer { similar, .. } if is_like_call && !similar.is_empty() => Err(error),
        _ => Ok(None),
    }
}

/// Whether a word has the form of an argument: `key=value`, `--key`, or JSON.
fn is_argument(word: &str) -> bool {
    let has_key = word.split_once('=').is_some_and(|(key, _)| !key.is_empty() && !key.contains(' '));
    has_key || word.starts_with('{') || (word.starts_with("--") && word.len() > 2)
}

fn require_closed(split: &SplitLine) -> Result<(), InputError> {
    match split.unclosed {
        Some(opening) => Err(InputError::Unclosed { opening }),
        None => Ok(()),
    }
}
