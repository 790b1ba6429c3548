//! Reads the commands of a shell script that stands in one argument.
//!
//! Knows quotes, separators and substitutions, which is enough to find the programs; it does not expand anything.

use super::wrapper::is_assignment;

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash"];

/// Words that stand before a command and start nothing.
const KEYWORDS: [&str; 10] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "fi"];

/// A script, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// Its commands, in the order they are written.
    pub(super) commands: Vec<Vec<String>>,
    /// Whether what one command prints becomes the input or the text of another.
    pub(super) runs_output: bool,
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// The script that a shell gets with `-c`; none if this is no shell or it gets none.
pub(super) fn of_shell(name: &str, arguments: &[String]) -> Option<Script> {
    if !is_shell(name) {
        return None;
    }
    let mut is_script = false;
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if !word.starts_with(['-', '+']) || word == "-" {
            return is_script.then(|| read_with(word, after));
        }
        let is_long = word.starts_with("--");
        is_script |= word == "--command" || !is_long && word.starts_with('-') && word.contains('c');
        let takes_value = matches!(word.as_str(), "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file");
        rest = if takes_value { after.get(1..).unwrap_or_default() } else { after };
    }
    None
}

/// The commands of `text`, for which the words of `parameters` are `$0`, `$1` and so on.
fn read_with(text: &str, parameters: &[String]) -> Script {
    let mut script = read(text);
    let all = ["$@", "$*", "$1", "${@", "${1"];
    if all.iter().any(|mark| text.contains(mark)) {
        script.commands.extend(parameters.get(1..).filter(|words| !words.is_empty()).map(<[_]>::to_vec));
    }
    if text.contains("$0") && !parameters.is_empty() {
        script.commands.push(parameters.to_vec());
    }
    script
}

/// The words of one line, quotes taken away.
pub(super) fn words(line: &str) -> Vec<String> {
    read(line).commands.into_iter().flatten().collect()
}

/// Takes a script apart.
pub(super) fn read(text: &str) -> Script {
    let mut reader = Reader::default();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match (reader.quote, character) {
            (Some('\''), '\'') | (Some('"'), '"') => reader.quote = None,
            (Some('\''), other) => reader.push(other),
            (_, '\\') => characters.next().into_iter().for_each(|escaped| reader.push_escaped(escaped)),
            (_, '`') => reader.substitute(),
            (_, '$') if next == Some('(') => reader.substitute(),
            (Some(_), other) => reader.push(other),
            (None, '\'' | '"') => reader.open_quote(character),
            (None, '<') if next == Some('(') => reader.substitute(),
            (None, '|') => {
                reader.script.runs_output |= characters.next_if_eq(&'|').is_none();
                reader.end_command();
            }
            (None, ';' | '&' | '\n' | '(' | ')') => reader.end_command(),
            (None, other) if other.is_whitespace() => reader.end_word(),
            (None, other) => reader.push(other),
        }
    }
    reader.end_command();
    reader.script
}

/// What was read of a script so far.
#[derive(Default)]
struct Reader {
    script: Script,
    command: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
}

impl Reader {
    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    /// A line break after a backslash joins two lines.
    fn push_escaped(&mut self, character: char) {
        if character != '\n' {
            self.push(character);
        }
    }

    fn open_quote(&mut self, quote: char) {
        self.quote = Some(quote);
        self.word.get_or_insert_default();
    }

    /// A command inside of another one begins or ends; quotes are its own.
    fn substitute(&mut self) {
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
