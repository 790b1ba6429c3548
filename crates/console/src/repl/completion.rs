//! Completes a typed line: commands, prompts, servers, tools, arguments and their values, mentions.
//!
//! Pure. Values that only a server knows are described by a [`ValueQuestion`], which `completer` asks within
//! a short deadline; the schema of a tool is looked up by name, only for the tool that is typed.

mod mention;
mod prompt_argument;
mod tool_argument;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use mcparley::model::text::{display_line, hidden_count, truncate_text};
use serde_json::Value;

use super::known_names::KnownNames;
use super::slash_command::{FirstWord, SERVERS_COMMANDS, SLASH_COMMANDS, SlashCommand};
use super::words::{SplitLine, quote_word};

/// The limit on a description, in characters; the menu cuts it to the terminal.
const DESCRIPTION_CHARS: usize = 400;

/// A text that could stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The text that replaces the word.
    pub(crate) text: String,
    /// One line for the menu; may be empty.
    pub(crate) description: String,
    /// Whether the word is complete, so that a space follows.
    pub(crate) is_whole: bool,
}

/// The completions of a line at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineCompletion {
    /// The bytes of the line that a candidate replaces.
    pub(crate) span: Range<usize>,
    /// The candidates, those that begin with the typed text.
    pub(crate) candidates: Vec<Candidate>,
    /// The question to a server for more candidates.
    pub(crate) question: Option<ValueQuestion>,
}

/// A question to a server for the values of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueQuestion {
    /// The prompt or template that has the argument.
    pub(crate) subject: QuestionSubject,
    /// The server.
    pub(crate) server: String,
    /// The argument.
    pub(crate) argument: String,
    /// The typed part of its value.
    pub(crate) value: String,
    /// Other arguments that are already filled in.
    pub(crate) known: BTreeMap<String, String>,
    /// The text before the value in a candidate, such as `key=`.
    pub(crate) before: String,
}

/// The prompt or template that a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QuestionSubject {
    /// A prompt, by the server's name for it.
    Prompt(String),
    /// A resource template.
    Template(String),
}

/// The schema of the tool with this public name.
pub(crate) type SchemaLookup<'s> = &'s dyn Fn(&str) -> Option<Value>;

/// Completes the word that ends at byte `cursor` of the line.
pub(crate) fn complete_line(
    line: &str,
    cursor: usize,
    known: &KnownNames,
    schema_of: SchemaLookup<'_>,
) -> LineCompletion {
    let before = line.get(..cursor).unwrap_or(line);
    let typed = TypedLine::parse(before);
    if typed.current.starts_with('@') {
        return mention::complete_mention(&typed, known);
    }
    match typed.words.split_first() {
        None => typed.offer(first_word_candidates(&typed.current, known)),
        Some((first, words)) => match first.strip_prefix('/') {
            Some(command) => complete_command_word(command, words, &typed, known),
            None => complete_call_word(first, words, &typed, known, schema_of),
        },
    }
}

/// A line up to the cursor: the words before the current one, and the current one.
pub(crate) struct TypedLine {
    pub(crate) words: Vec<String>,
    /// The word at the cursor, without quotes; empty after a space.
    pub(crate) current: String,
    /// The bytes of the current word.
    pub(crate) span: Range<usize>,
}

impl TypedLine {
    fn parse(before: &str) -> Self {
        let split = SplitLine::parse(before);
        let end = before.len();
        let mut words: Vec<_> = split.words;
        match words.pop() {
            Some(last) if last.span.end == end => Self {
                words: words.into_iter().map(|word| word.text).collect(),
                current: last.text,
                span: last.span,
            },
            last => Self {
                words: words.into_iter().chain(last).map(|word| word.text).collect(),
                current: String::new(),
                span: end..end,
            },
        }
    }

    /// The candidates that begin with the current word, in order.
    pub(crate) fn offer(&self, candidates: impl IntoIterator<Item = Candidate>) -> LineCompletion {
        let begins = |candidate: &Candidate| candidate.text.starts_with(&self.current);
        let mut candidates: Vec<Candidate> = candidates.into_iter().filter(begins).collect();
        candidates.sort_by(|one, other| one.text.cmp(&other.text));
        candidates.dedup_by(|one, other| one.text == other.text);
        for candidate in &mut candidates {
            candidate.text = quote_word(&candidate.text).into_owned();
        }
        LineCompletion { span: self.span.clone(), candidates, question: None }
    }
}

impl Candidate {
    /// A complete word; `None` for a text with hidden characters, which must not reach the terminal.
    pub(crate) fn whole(text: &str, description: &str) -> Option<Self> {
        (hidden_count(text) == 0).then(|| Self {
            text: text.to_owned(),
            description: truncate_text(&display_line(description), DESCRIPTION_CHARS).into_owned(),
            is_whole: true,
        })
    }

    /// The beginning of a word, such as `key=`.
    pub(crate) fn part(text: &str, description: &str) -> Option<Self> {
        Self::whole(text, description).map(|candidate| Self { is_whole: false, ..candidate })
    }
}

/// Commands and prompts after a slash; else servers and tools.
fn first_word_candidates(current: &str, known: &KnownNames) -> Vec<Candidate> {
    if current.starts_with('/') {
        let commands = SLASH_COMMANDS.iter();
        let commands =
            commands.map(|command| Candidate::whole(&format!("/{}", command.name), command.summary));
        let prompts = known.prompts.iter();
        let prompts =
            prompts.map(|prompt| Candidate::whole(&format!("/{}", prompt.command), &prompt.description));
        return commands.chain(prompts).flatten().collect();
    }
    if current.starts_with("mcp__") {
        return known.tools.iter().filter_map(|it| Candidate::whole(&it.public, &it.description)).collect();
    }
    if let Some((server, _)) = known.split_dotted(current).or_else(|| dotted_server(current, known)) {
        let tools = known.tools_of(server);
        return tools
            .filter_map(|tool| Candidate::whole(&format!("{server}.{}", tool.name), &tool.description))
            .collect();
    }
    let with_tools = known.servers.iter().filter(|server| known.tools_of(server).next().is_some());
    with_tools.filter_map(|server| Candidate::part(&format!("{server}."), "tools of this server")).collect()
}

/// The server in `server.`, without a tool yet.
fn dotted_server<'w>(word: &'w str, known: &KnownNames) -> Option<(&'w str, &'w str)> {
    let server = word.strip_suffix('.')?;
    known.has_server(server).then_some((server, ""))
}

/// Completes a word after a slash command or a prompt.
fn complete_command_word(
    command: &str,
    words: &[String],
    typed: &TypedLine,
    known: &KnownNames,
) -> LineCompletion {
    if let Some(prompt) = known.find_prompt(command) {
        return prompt_argument::complete_argument(prompt, words, typed);
    }
    let servers = || known.servers.iter().filter_map(|server| Candidate::whole(server, "server"));
    match (command, words) {
        ("mcp", []) => {
            typed.offer(SERVERS_COMMANDS.iter().filter_map(|(name, about)| Candidate::whole(name, about)))
        }
        ("mcp", [word]) if matches!(word.as_str(), "enable" | "disable") => {
            typed.offer(servers().chain(Candidate::whole("all", "every server")))
        }
        ("mcp", [word]) if matches!(word.as_str(), "reconnect" | "login" | "logout") => {
            typed.offer(servers())
        }
        ("tools", [server]) => {
            let tools = known.tools_of(server);
            typed.offer(tools.filter_map(|tool| Candidate::whole(&tool.name, &tool.description)))
        }
        (_, []) => match SlashCommand::find(command).map(|command| command.first_word) {
            Some(FirstWord::Server) => typed.offer(servers()),
            Some(FirstWord::Choice(choices)) => {
                typed.offer(choices.iter().filter_map(|choice| Candidate::whole(choice, "")))
            }
            Some(FirstWord::Free) | None => typed.offer([]),
        },
        _ => typed.offer([]),
    }
}

/// Completes a word after a server or a tool.
fn complete_call_word(
    first: &str,
    words: &[String],
    typed: &TypedLine,
    known: &KnownNames,
    schema_of: SchemaLookup<'_>,
) -> LineCompletion {
    let dotted = known.split_dotted(first).and_then(|(server, tool)| known.find_tool(server, tool));
    let called = dotted.or_else(|| known.tools.iter().find(|tool| tool.public == first));
    let (tool, given) = match (called, words) {
        (Some(tool), given) => (Some(tool), given),
        (None, []) => {
            let tools = known.tools_of(first);
            return typed.offer(tools.filter_map(|tool| Candidate::whole(&tool.name, &tool.description)));
        }
        (None, [tool, given @ ..]) => (known.find_tool(first, tool), given),
    };
    match tool.and_then(|tool| schema_of(&tool.public)) {
        Some(schema) => typed.offer(tool_argument::argument_candidates(&schema, given, &typed.current)),
        None => typed.offer([]),
    }
}
