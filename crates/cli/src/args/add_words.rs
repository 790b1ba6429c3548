//! Puts the words of `add` into the order clap reads: options, then `--`, the name, and the command or URL.
//!
//! Claude Code takes `-e A=1 B=2`, and options behind the command. Behind a command it cannot be told whose an option
//! is, so those that `add` shares with Claude Code are taken only at the very end and where nothing else looks like an
//! option; anything else is refused, because a command that is stored wrongly fails long after it was typed.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::option_table::OptionTable;
use super::remote::has_scheme;

/// The options of `claude mcp add`: behind a command they are meant for `add` there.
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

/// The words behind `add` in order; nothing where clap has to say what is wrong with them.
pub(super) fn arrange(words: &[OsString], table: &OptionTable) -> Result<Option<Vec<OsString>>, clap::Error> {
    let Some(Front { mut options, mut names, behind }) = Front::read(words, table) else { return Ok(None) };
    match behind {
        // After `--` nothing is an option of `add`.
        None => {}
        Some(behind) => {
            let target = names.last().cloned().unwrap_or_default();
            let tail = if has_scheme(&target.to_string_lossy()) {
                Tail::of_url(behind, table)
            } else {
                Tail::of_command(&target, behind, table)?
            };
            options.extend(tail.options);
            names.extend(tail.arguments);
        }
    }
    Ok(Some(options.into_iter().chain([OsString::from("--")]).chain(names).collect()))
}

/// The words up to the command or URL.
struct Front<'w> {
    options: Vec<OsString>,
    /// The name and the command or URL; after `--` the arguments too.
    names: Vec<OsString>,
    /// What follows the command or URL; absent where `--` stood before it.
    behind: Option<&'w [OsString]>,
}

impl<'w> Front<'w> {
    fn read(words: &'w [OsString], table: &OptionTable) -> Option<Self> {
        let (mut options, mut names) = (Vec::new(), Vec::new());
        let mut rest = words;
        while names.len() < 2 {
            let (word, behind) = rest.split_first()?;
            if word == "--" {
                names.extend(behind.iter().cloned());
                return (names.len() >= 2).then_some(Self { options, names, behind: None });
            }
            if let Some(taken) = table.take(rest) {
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

/// The words behind the command or URL.
#[derive(Default)]
struct Tail {
    options: Vec<OsString>,
    arguments: Vec<OsString>,
}

impl Tail {
    /// Behind a URL every option is one of `add`; what is left over is complained about later.
    fn of_url(mut rest: &[OsString], table: &OptionTable) -> Self {
        let mut tail = Self::default();
        while let Some((word, behind)) = rest.split_first() {
            match table.take(rest) {
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

    fn of_command(command: &OsString, words: &[OsString], table: &OptionTable) -> Result<Self, clap::Error> {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let before = words.get(..end).unwrap_or_default();
        let Some(first) = before.iter().position(is_shared) else {
            return Ok(Self { options: Vec::new(), arguments: words.to_vec() });
        };
        let (own, mut rest) = before.split_at(first);
        let shared = rest.first().cloned().unwrap_or_default();
        if own.iter().any(looks_like_option) {
            return Err(unclear(&shared, command));
        }
        let mut tail = Self { options: Vec::new(), arguments: own.to_vec() };
        while !rest.is_empty() {
            let taken = table.take(rest).ok_or_else(|| unclear(&shared, command))?;
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

fn unclear(option: &OsString, command: &OsString) -> clap::Error {
    let (option, command) = (option.to_string_lossy(), command.to_string_lossy());
    let message = format!(
        "`{option}` behind the command may be meant for `add` or for `{command}`\n\n\
         hint: put `--` before the command; options of `add` stand before `--`, those of the command behind it: \
         `mcparley add NAME [OPTIONS] -- {command} …`\n"
    );
    clap::Error::raw(ErrorKind::ArgumentConflict, message)
}
