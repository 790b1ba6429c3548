//! What a script is: one named lie, with at most one argument, as written after `--script`.
//!
//! The lies themselves stand in [`table`]; this file only reads them from a command line.

mod table;

pub use table::{Name, SCRIPTS};

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// Which lie.
    pub name: Name,
    /// The word on the command line.
    pub word: &'static str,
    /// Which server can tell it.
    pub place: Place,
    /// What may follow the colon.
    pub shape: Shape,
    /// What the server then does.
    pub what: &'static str,
}

/// The servers that know a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Only the server on standard input and output.
    Stdio,
    /// Only the server behind a URL.
    Http,
    /// Both.
    Both,
}

/// What may follow the colon; every argument has a standard, so every script can be named bare.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Nothing.
    Bare,
    /// A count or a number of milliseconds: the standard, then the most that is accepted.
    Number(u64, u64),
    /// A size in MiB, or in bytes with a `b` behind it: the standard in MiB; at most [`MOST_MIB`].
    Size(u64),
    /// One of these words; the first is the standard.
    Word(&'static [&'static str]),
    /// Any text.
    Text(&'static str),
}

/// Larger than every limit a host may sensibly have, and still gone in seconds.
pub const MOST_MIB: u64 = 1024;

const MIB: u64 = 1024 * 1024;

/// A script as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which lie.
    pub name: Name,
    /// Its argument, or the standard.
    pub argument: Argument,
}

/// What was behind the colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The script takes none.
    Nothing,
    /// A count, milliseconds, or bytes.
    Number(u64),
    /// A word or a text.
    Text(String),
}

impl Asked {
    /// Reads `NAME[:ARGUMENT]`.
    ///
    /// # Errors
    ///
    /// A sentence that says which part is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let (word, argument) = match text.split_once(':') {
            Some((word, argument)) => (word, Some(argument)),
            None => (text, None),
        };
        let script = SCRIPTS.iter().find(|script| script.word == word);
        let script = script.ok_or_else(|| format!("no script is called `{word}`"))?;
        let argument = script.shape.read(argument).ok_or_else(|| format!("wrong argument in `{text}`"))?;
        Ok(Self { name: script.name, argument })
    }
}

impl Name {
    /// The line of the table.
    pub fn script(self) -> Option<&'static Script> {
        SCRIPTS.iter().find(|script| script.name == self)
    }
}

impl Shape {
    pub(crate) fn read(self, text: Option<&str>) -> Option<Argument> {
        match self {
            Self::Bare => text.is_none().then_some(Argument::Nothing),
            Self::Number(standard, most) => {
                let number = text.map_or(Some(standard), |text| text.parse().ok())?;
                (number <= most).then_some(Argument::Number(number))
            }
            Self::Size(standard) => {
                let bytes = text.map_or(Some(standard * MIB), bytes)?;
                (bytes <= MOST_MIB * MIB).then_some(Argument::Number(bytes))
            }
            Self::Word(choices) => {
                let word = text.or(choices.first().copied())?;
                choices.contains(&word).then(|| Argument::Text(word.to_owned()))
            }
            Self::Text(standard) => Some(Argument::Text(text.unwrap_or(standard).to_owned())),
        }
    }

    /// How it is shown behind the name in the list of scripts.
    pub fn to_hint(self) -> String {
        match self {
            Self::Bare => String::new(),
            Self::Number(standard, _) => format!("[:NUMBER={standard}]"),
            Self::Size(standard) => format!("[:MIB={standard}]"),
            Self::Word(choices) => format!("[:{}]", choices.join("|")),
            Self::Text(standard) => format!("[:TEXT={standard}]"),
        }
    }
}

fn bytes(text: &str) -> Option<u64> {
    match text.strip_suffix('b') {
        Some(bytes) => bytes.parse().ok(),
        None => text.parse::<u64>().ok()?.checked_mul(MIB),
    }
}

#[cfg(test)]
mod tests;
