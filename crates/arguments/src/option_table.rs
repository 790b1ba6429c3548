//! The table of option names and the number of values each option takes.
//!
//! Built from the clap command, so that there is one list of options. `-e` and `-H` of `add` take every
//! following word that looks like another value, as in Claude Code.

use std::collections::HashMap;
use std::ffi::OsString;

/// The number of values that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionArity {
    None,
    One,
    /// One value, and every following word that looks like `KEY=VALUE`.
    Variables,
    /// One value, and every following word that looks like `Key: Value`.
    Headers,
}

/// The options of a command together with the global options.
pub(super) struct OptionTable(HashMap<String, OptionArity>);

/// An option with its values, repeated for each value, and the words after it.
pub(super) struct TakenOption<'w> {
    pub(super) words: Vec<OsString>,
    pub(super) rest: &'w [OsString],
}

impl OptionTable {
    /// Builds the table of the options of these commands.
    pub(super) fn from_commands(commands: &[&clap::Command]) -> Self {
        let mut table: HashMap<String, OptionArity> =
            ["-h", "--help"].into_iter().map(|name| (name.to_owned(), OptionArity::None)).collect();
        for arg in commands.iter().flat_map(|command| command.get_arguments()) {
            let values = match (arg.get_action().takes_values(), arg.get_id().as_str()) {
                (false, _) => OptionArity::None,
                (true, "env") => OptionArity::Variables,
                (true, "header") => OptionArity::Headers,
                (true, _) => OptionArity::One,
            };
            let long = arg.get_long().map(|long| format!("--{long}"));
            let short = arg.get_short().map(|short| format!("-{short}"));
            table.extend(long.into_iter().chain(short).map(|name| (name, values)));
        }
        Self(table)
    }

    /// Takes the option that `words` begin with, and its values; `None` if the first word is no known option.
    pub(super) fn take_option<'w>(&self, words: &'w [OsString]) -> Option<TakenOption<'w>> {
        let (first, rest) = words.split_first()?;
        let word = first.to_str()?;
        let (name, values, has_value) = self.find_option(word)?;
        let mut taken = TakenOption { words: vec![first.clone()], rest };
        if values != OptionArity::None && !has_value {
            let (value, rest) =
                taken.rest.split_first().map_or((None, taken.rest), |(v, rest)| (Some(v), rest));
            taken.words.extend(value.cloned());
            taken.rest = rest;
        }
        while let Some((more, rest)) = taken.rest.split_first()
            && values.takes_more(&more.to_string_lossy())
        {
            taken.words.extend([OsString::from(&name), more.clone()]);
            taken.rest = rest;
        }
        Some(taken)
    }

    /// The option in a word, its number of values, and whether a value is attached to it, as in
    /// `--key=value`.
    fn find_option(&self, word: &str) -> Option<(String, OptionArity, bool)> {
        if let Some(values) = self.0.get(word) {
            return Some((word.to_owned(), *values, false));
        }
        let attached = match word.strip_prefix("--") {
            Some(_) => word.split_once('=')?.0,
            None => word.get(..2)?,
        };
        let values = *self.0.get(attached)?;
        if values != OptionArity::None {
            return Some((attached.to_owned(), values, true));
        }
        // Several flags in one word, such as `-vvv`.
        let is_flag = |letter: char| self.0.get(&format!("-{letter}")) == Some(&OptionArity::None);
        let are_flags = !word.starts_with("--") && word.chars().skip(1).all(is_flag);
        are_flags.then(|| (word.to_owned(), OptionArity::None, false))
    }
}

impl OptionArity {
    fn takes_more(self, word: &str) -> bool {
        match self {
            Self::None | Self::One => false,
            Self::Variables => is_variable(word),
            Self::Headers => is_header(word),
        }
    }
}

/// Whether a word is `KEY=VALUE`, and no option with a value.
fn is_variable(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a word is `Key: Value`, and neither a URL nor a host with a port.
fn is_header(word: &str) -> bool {
    let Some((name, value)) = word.split_once(':') else { return false };
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    is_name && !value.starts_with("//") && !name.eq_ignore_ascii_case("localhost")
}
