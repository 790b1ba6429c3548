//! Parses scripts: one named fault with at most one argument, as given to `--script`.
//!
//! The faults themselves are listed in [`table`].

mod table;

pub use table::{Name, SCRIPTS};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// The fault.
    pub name: Name,
    /// The word on the command line.
    pub word: &'static str,
    /// The servers that support it.
    pub place: Place,
    /// The shape of the argument after the colon.
    pub shape: ArgumentShape,
    /// A description of the effect.
    pub what: &'static str,
}

/// The servers that support a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Only the server on standard input and output.
    Stdio,
    /// Only the server behind a URL.
    Http,
    /// Both servers.
    Both,
}

/// The shape of an argument; every argument has a default, so every script can be given without one.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentShape {
    /// No argument.
    Bare,
    /// A count or a number of milliseconds: the default, then the maximum.
    Number(u64, u64),
    /// A size in MiB, or in bytes with the suffix `b`: the default in MiB; at most [`MOST_MIB`].
    Size(u64),
    /// One of these words; the first is the default.
    Word(&'static [&'static str]),
    /// Any text, with its default.
    Text(&'static str),
}

/// The size limit: larger than every sensible limit of a host, and still sent in seconds.
pub const MOST_MIB: u64 = 1024;

const MIB: u64 = 1024 * 1024;

/// A script as given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedScript {
    /// The fault.
    pub name: Name,
    /// The argument, or its default.
    pub argument: ScriptArgument,
}

/// The argument of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptArgument {
    /// The script has no argument.
    Nothing,
    /// A count, milliseconds, or bytes.
    Number(u64),
    /// A word or a text.
    Text(String),
}

impl RequestedScript {
    /// Parses `NAME[:ARGUMENT]`.
    ///
    /// # Errors
    ///
    /// A sentence that names the invalid part.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (word, argument) = match text.split_once(':') {
            Some((word, argument)) => (word, Some(argument)),
            None => (text, None),
        };
        let script = SCRIPTS.iter().find(|script| script.word == word);
        let script = script.ok_or_else(|| format!("unknown script `{word}`"))?;
        let argument =
            script.shape.parse_argument(argument).ok_or_else(|| format!("invalid argument in `{text}`"))?;
        Ok(Self { name: script.name, argument })
    }
}

impl Name {
    /// The row of the table.
    pub fn script(self) -> Option<&'static Script> {
        SCRIPTS.iter().find(|script| script.name == self)
    }
}

impl ArgumentShape {
    pub(crate) fn parse_argument(self, text: Option<&str>) -> Option<ScriptArgument> {
        match self {
            Self::Bare => text.is_none().then_some(ScriptArgument::Nothing),
            Self::Number(standard, most) => {
                let number = text.map_or(Some(standard), |text| text.parse().ok())?;
                (number <= most).then_some(ScriptArgument::Number(number))
            }
            Self::Size(standard) => {
                let bytes = text.map_or(Some(standard * MIB), parse_size)?;
                (bytes <= MOST_MIB * MIB).then_some(ScriptArgument::Number(bytes))
            }
            Self::Word(choices) => {
                let word = text.or(choices.first().copied())?;
                choices.contains(&word).then(|| ScriptArgument::Text(word.to_owned()))
            }
            Self::Text(standard) => Some(ScriptArgument::Text(text.unwrap_or(standard).to_owned())),
        }
    }

    /// The argument in the list of scripts.
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

fn parse_size(text: &str) -> Option<u64> {
    match text.strip_suffix('b') {
        Some(bytes) => bytes.parse().ok(),
        None => text.parse::<u64>().ok()?.checked_mul(MIB),
    }
}

#[cfg(test)]
mod tests;
