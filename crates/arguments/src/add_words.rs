//! Reorders the words of `add` for clap: options, then `--`, the name, and the command or URL.
//!
//! Claude Code accepts `-e A=1 B=2`, and options after the command. An option after a command may belong to
//! `add` or to the command, so options that `add` shares with Claude Code are accepted only at the very end
//! and only if no other word looks like an option. All other forms are refused: a command that is stored
//! wrongly fails long after it was typed.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::option_table::OptionTable;
use super::remote::has_scheme;

/// The options of `claude mcp add`, which Claude Code also accepts after the command.
const SHARED: [&str; 12] = [
    "-s",
    "--scope",
    "-e",
    "--env",
    "-t",
    "--transport",
    "-H",
    "--header",
    "--client-id",
    "--client-secret",
    "--callback-port",
    "--xaa",
];

/// Reorders the words after `add`; `None` if they are incomplete, so that clap reports the error.
pub(super) fn arrange_add_words(
    words: &[OsString],
    table: &OptionTable,
) -> Result<Option<Vec<OsString>>, clap::Error> {
    let Some(AddFront { mut options, mut names, behind }) = AddFront::parse_front(words, table) else {
        return Ok(None);
    };
    match behind {
        // After `--` no word is an option of `add`.
        None => {}
        Some(behind) => {
            let target = names.last().cloned().unwrap_or_default();
            let tail = if has_scheme(&target.to_string_lossy()) {
                AddTail::from_url_words(behind, table)
            } else {
                AddTail::from_command_words(&target, behind, table)?
            };
            options.extend(tail.options);
            names.extend(tail.arguments);
        }
    }
    Ok(Some(options.into_iter().chain([OsString::from("--")]).chain(names).collect()))
}

/// The words of `add` up to the command or URL.
struct AddFront<'w> {
    options: Vec<OsString>,
    /// The name and the command or URL; after `--` the arguments too.
    names: Vec<OsString>,
    /// The words after the command or URL; `None` if `--` precedes it.
    behind: Option<&'w [OsString]>,
}

impl<'w> AddFront<'w> {
    fn parse_front(words: &'w [OsString], table: &OptionTable) -> Option<Self> {
        let (mut options, mut names) = (Vec::new(), Vec::new());
        let mut rest = words;
        while names.len() < 2 {
            let (word, behind) = rest.split_first()?;
            if word == "--" {
                names.extend(behind.iter().cloned());
                return (names.len() >= 2).then_some(Self { options, names, behind: None });
            }
            if let Some(taken) = table.take_option(rest) {
                options.extend(taken.words);
                rest = taken.rest;
                continue;
            }
            if looks_like_option(word) {
                return None;
            }
            names.push(word.clone());
            rest = behind;
        }
        Some(Self { options, names, behind: Some(rest) })
    }
}

/// The words of `add` after the command or URL.
#[derive(Default)]
struct AddTail {
    options: Vec<OsString>,
    arguments: Vec<OsString>,
}

impl AddTail {
    /// Splits the words after a URL: every option belongs to `add`; remaining words are reported as an error
    /// later.
    fn from_url_words(mut rest: &[OsString], table: &OptionTable) -> Self {
        let mut tail = Self::default();
        while let Some((word, behind)) = rest.split_first() {
            match table.take_option(rest) {
                Some(taken) => {
                    tail.options.extend(taken.words);
                    rest = taken.rest;
                }
                None => {
                    tail.arguments.push(word.clone());
                    rest = behind;
                }
            }
        }
        tail
    }

    fn from_command_words(
        command: &OsString,
        words: &[OsString],
        table: &OptionTable,
    ) -> Result<Self, clap::Error> {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let before = words.get(..end).unwrap_or_default();
        let Some(first) = before.iter().position(is_shared) else {
            return Ok(Self { options: Vec::new(), arguments: words.to_vec() });
        };
        let (own, mut rest) = before.split_at(first);
        let shared = rest.first().cloned().unwrap_or_default();
        if own.iter().any(looks_like_option) {
            return Err(ambiguous_option_error(&shared, command));
        }
        let mut tail = Self { options: Vec::new(), arguments: own.to_vec() };
        while !rest.is_empty() {
            let taken = table.take_option(rest).ok_or_else(|| ambiguous_option_error(&shared, command))?;
            tail.options.extend(taken.words);
            rest = taken.rest;
        }
        tail.arguments.extend(words.iter().skip(end + 1).cloned());
        Ok(tail)
    }
}

fn is_shared(word: &OsString) -> bool {
    let word = word.to_string_lossy();
    let name = if word.starts_with("--") { word.split('=').next().unwrap_or_default() } else { &*word };
    SHARED.contains(&name)
}

fn looks_like_option(word: &OsString) -> bool {
    let word = word.to_string_lossy();
    word.len() > 1 && word.starts_with('-')
}

fn ambiguous_option_error(option: &OsString, command: &OsString) -> clap::Error {
    let (option, command) = (option.to_string_lossy(), command.to_string_lossy());
    let message = format!(
        "`{option}` after the command may belong to `add` or to `{command}`\n\n\
         hint: put `--` before the command, with options of `add` before `--` and options of the command after it: \
         `mcparley add NAME [OPTIONS] -- {command} …`\n"
    );
    clap::Error::raw(ErrorKind::ArgumentConflict, message)
}
