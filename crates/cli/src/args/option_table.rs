//! Knows which words of a command line are options and how many values follow them.
//!
//! Read from clap's own description, so that there is one list of options. `-e` and `-H` of `add` take every following
//! word that looks like another value, as Claude Code does.

use std::collections::HashMap;
use std::ffi::OsString;

/// How an option takes values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    None,
    One,
    /// One, and every following word that looks like `KEY=VALUE`.
    Variables,
    /// One, and every following word that looks like `Key: Value`.
    Headers,
}

/// The options of a command and of the program.
pub(super) struct OptionTable(HashMap<String, Values>);

/// An option with its values, repeated for each value, and what follows it.
pub(super) struct Taken<'w> {
    pub(super) words: Vec<OsString>,
    pub(super) rest: &'w [OsString],
}

impl OptionTable {
    /// The options of these commands.
    pub(super) fn of(commands: &[&clap::Command]) -> Self {
        let mut table: HashMap<String, Values> =
            ["-h", "--help"].into_iter().map(|name| (name.to_owned(), Values::None)).collect();
        for arg in commands.iter().flat_map(|command| command.get_arguments()) {
            let values = match (arg.get_action().takes_values(), arg.get_id().as_str()) {
                (false, _) => Values::None,
                (true, "env") => Values::Variables,
                (true, "header") => Values::Headers,
                (true, _) => Values::One,
            };
            let long = arg.get_long().map(|long| format!("--{long}"));
            let short = arg.get_short().map(|short| format!("-{short}"));
            table.extend(long.into_iter().chain(short).map(|name| (name, values)));
        }
        Self(table)
    }

    /// The option that `words` begin with, and its values; nothing if they begin with none that is known.
    pub(super) fn take<'w>(&self, words: &'w [OsString]) -> Option<Taken<'w>> {
        let (first, rest) = words.split_first()?;
        let word = first.to_str()?;
        let (name, values, has_value) = self.named(word)?;
        let mut taken = Taken { words: vec![first.clone()], rest };
        if values != Values::None && !has_value {
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

    /// The option a word names, how it takes values, and whether one is attached to it.
    fn named(&self, word: &str) -> Option<(String, Values, bool)> {
        if let Some(values) = self.0.get(word) {
            return Some((word.to_owned(), *values, false));
        }
        let attached = match word.strip_prefix("--") {
            Some(_) => word.split_once('=')?.0,
            None => word.get(..2)?,
        };
        let values = *self.0.get(attached)?;
        if values != Values::None {
            return Some((attached.to_owned(), values, true));
        }
        // Several flags in one word, such as `-vvv`.
        let is_flag = |letter: char| self.0.get(&format!("-{letter}")) == Some(&Values::None);
        let are_flags = !word.starts_with("--") && word.chars().skip(1).all(is_flag);
        are_flags.then(|| (word.to_owned(), Values::None, false))
    }
}

impl Values {
    fn takes_more(self, word: &str) -> bool {
        match self {
            Self::None | Self::One => false,
            Self::Variables => is_variable(word),
            Self::Headers => is_header(word),
        }
    }
}

/// `KEY=VALUE`, and no option with a value.
fn is_variable(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `Key: Value`, and no URL and no host with a port.
fn is_header(word: &str) -> bool {
    let Some((name, value)) = word.split_once(':') else { return false };
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    is_name && !value.starts_with("//") && !name.eq_ignore_ascii_case("localhost")
}
