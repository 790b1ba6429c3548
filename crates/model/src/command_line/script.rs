//! Parses the commands of a shell script that is given as one argument.
//!
//! Understands quotes, separators and substitutions, which is enough to find the programs; it does not
//! expand variables.

use super::wrapper::is_assignment;

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash"];

/// Keywords that precede a command and start no program.
const KEYWORDS: [&str; 10] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "fi"];

/// The commands of a shell script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// The commands in the order they are written.
    pub(super) commands: Vec<Vec<String>>,
    /// Whether the output of one command becomes the input or the text of another.
    pub(super) runs_output: bool,
}

/// Whether the program of this name is a shell.
#[must_use]
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Parses the script that a shell is given with `-c`; `None` if the program is not a shell or has no `-c`.
pub(super) fn parse_shell_arguments(name: &str, arguments: &[String]) -> Option<Script> {
    if !is_shell(name) {
        return None;
    }
    let mut is_script = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if !word.starts_with(['-', '+']) || word == "-" {
            return is_script.then(|| parse_with_parameters(word, after));
        }
        let is_long = word.starts_with("--");
        is_script |= word == "--command" || !is_long && word.starts_with('-') && word.contains('c');
        let takes_value = matches!(word.as_str(), "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file");
        rest = if takes_value { after.get(1..).unwrap_or_default() } else { after };
    }
    None
}

/// Parses the commands of `text`, where `parameters` are the values of `$0`, `$1` and so on.
fn parse_with_parameters(text: &str, parameters: &[String]) -> Script {
    let mut script = parse_script(text);
    let all = ["$@", "$*", "$1", "${@", "${1"];
    if all.iter().any(|mark| text.contains(mark)) {
        script.commands.extend(parameters.get(1..).filter(|words| !words.is_empty()).map(<[_]>::to_vec));
    }
    if text.contains("$0") && !parameters.is_empty() {
        script.commands.push(parameters.to_vec());
    }
    script
}

/// Splits one line into words and removes the quotes.
pub(super) fn split_words(line: &str) -> Vec<String> {
    parse_script(line).commands.into_iter().flatten().collect()
}

/// Parses a script into its commands.
pub(super) fn parse_script(text: &str) -> Script {
    let mut reader = ScriptParser::default();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match (reader.quote, character) {
            (Some('\''), '\'') | (Some('"'), '"') => reader.quote = None,
            (Some('\''), other) => reader.push_char(other),
            (_, '\\') => characters.next().into_iter().for_each(|escaped| reader.push_escaped(escaped)),
            (_, '`') => reader.mark_substitution(),
            (_, '$') if next == Some('(') => reader.mark_substitution(),
            (Some(_), other) => reader.push_char(other),
            (None, '\'' | '"') => reader.open_quote(character),
            (None, '<') if next == Some('(') => reader.mark_substitution(),
            (None, '|') => {
                reader.script.runs_output |= characters.next_if_eq(&'|').is_none();
                reader.end_command();
            }
            (None, ';' | '&' | '\n' | '(' | ')') => reader.end_command(),
            (None, other) if other.is_whitespace() => reader.end_word(),
            (None, other) => reader.push_char(other),
        }
    }
    reader.end_command();
    reader.script
}

/// The parser's state: the script, command and word read so far, and the open quote.
#[derive(Default)]
struct ScriptParser {
    script: Script,
    command: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
}

impl ScriptParser {
    fn push_char(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    /// Appends an escaped character; a line break after a backslash joins two lines.
    fn push_escaped(&mut self, character: char) {
        if character != '\n' {
            self.push_char(character);
        }
    }

    fn open_quote(&mut self, quote: char) {
        self.quote = Some(quote);
        self.word.get_or_insert_default();
    }

    /// Marks the start or end of a command substitution, which has quotes of its own.
    fn mark_substitution(&mut self) {
        self.script.runs_output = true;
        self.quote = None;
        self.end_command();
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.command).into_iter();
        let is_before = |word: &String| is_assignment(word) || KEYWORDS.contains(&word.as_str());
        let command: Vec<String> = command.skip_while(is_before).collect();
        if !command.is_empty() {
            self.script.commands.push(command);
        }
    }
}
