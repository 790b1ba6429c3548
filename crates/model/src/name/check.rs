//! Validates names of servers.
//!
//! New names are restricted more than names loaded from files: a name that needs no normalization reads the
//! same in the file, in a rule and in front of a model.

use super::{ServerName, is_public_char, normalize_name};
use crate::explain::Explain;
use crate::limits::PUBLIC_NAME_LIMIT;
use crate::text;

/// Names with another meaning, to programs that keep settings in JavaScript objects or to mcparley.
const RESERVED: [&str; 4] = ["__proto__", "constructor", "prototype", "mcparley"];

/// Names that Claude Code reserves for its own servers; it skips an entry with one of them.
const RESERVED_BY_CLAUDE_CODE: [&str; 3] = ["claude-in-chrome", "computer-use", "workspace"];

/// Whether Claude Code skips an entry of this name.
#[must_use]
pub fn is_reserved_by_claude_code(name: &str) -> bool {
    RESERVED_BY_CLAUDE_CODE.contains(&name)
}

/// Validates the name of a new server: 1 to 64 characters of `[A-Za-z0-9_-]`.
///
/// # Errors
/// A [`NameError`] with the problem.
pub fn check_new_server_name(name: &str) -> Result<ServerName, NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if let Some(character) = name.chars().find(|character| !is_public_char(*character)) {
        return Err(NameError::Character { name: shorten_name(name), character });
    }
    if name.len() > PUBLIC_NAME_LIMIT {
        return Err(NameError::TooLong { name: shorten_name(name), length: name.len() });
    }
    if RESERVED.contains(&name) {
        return Err(NameError::Reserved { name: name.to_owned() });
    }
    Ok(ServerName::new(name))
}

/// Validates a name in a file that may be hostile: 1 to 64 letters or digits of any alphabet, spaces and
/// `_-.:@+`.
///
/// Less strict than for new names, because names of other programs are loaded as they are, yet without
/// characters that could form a path, an emoji or an escape sequence.
///
/// # Errors
/// A [`NameError`] with the problem.
pub fn check_written_name(name: &str) -> Result<(), NameError> {
    let fits = |character: char| character.is_alphanumeric() || " _-.:@+".contains(character);
    if name.trim().is_empty() {
        return Err(NameError::Empty);
    }
    if let Some(character) = name.chars().find(|character| !fits(*character)) {
        return Err(NameError::Character { name: shorten_name(name), character });
    }
    let length = name.chars().count();
    if length > PUBLIC_NAME_LIMIT {
        return Err(NameError::TooLong { name: shorten_name(name), length });
    }
    if name.starts_with('.') {
        return Err(NameError::Character { name: shorten_name(name), character: '.' });
    }
    Ok(())
}

/// The problem with a server's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    #[error("a server's name cannot be empty")]
    Empty,
    /// The name is longer than a public name may be.
    #[error("`{name}…` has {length} characters; a server's name has at most {PUBLIC_NAME_LIMIT}")]
    TooLong {
        /// The beginning of the name.
        name: String,
        /// The length in characters.
        length: usize,
    },
    /// The name has an invalid character.
    #[error("`{}` contains `{}`; a server's name consists of letters, digits, `_` and `-`",
        text::display_line(name), text::display_line(character.encode_utf8(&mut [0; 4])))]
    Character {
        /// The beginning of the name.
        name: String,
        /// The first invalid character.
        character: char,
    },
    /// The name is reserved.
    #[error("`{name}` is reserved and cannot name a server")]
    Reserved {
        /// The name.
        name: String,
    },
}

impl Explain for NameError {
    fn hint(&self) -> Option<String> {
        let suggestion = match self {
            Self::Empty => return Some("give the server a short name, such as `github`".to_owned()),
            Self::TooLong { name, .. } => suggest_name(name),
            Self::Character { name, .. } => suggest_name(name),
            Self::Reserved { name } => Some(format!("{}-server", suggest_name(name)?)),
        };
        suggestion.map(|name| format!("call it `{name}`"))
    }
}

fn shorten_name(name: &str) -> String {
    name.chars().take(PUBLIC_NAME_LIMIT).collect()
}

/// Suggests a valid name similar to `name`; `None` if nothing readable is left of it.
fn suggest_name(name: &str) -> Option<String> {
    let normal = normalize_name(name);
    let words: Vec<_> = normal.split('_').filter(|word| !word.is_empty()).collect();
    let suggestion = words.join("_");
    suggestion.contains(|character: char| character.is_ascii_alphanumeric()).then_some(suggestion)
}
