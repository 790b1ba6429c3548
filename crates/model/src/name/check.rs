//! Decides which names a person may give to a new server.
//!
//! Stricter than what is loaded from files (B54): a name that needs no normalising reads the same in the
//! file, in a rule and in front of a model.

use super::{ServerName, is_public, normalise};
use crate::explain::Explain;
use crate::limits::PUBLIC_NAME_LIMIT;
use crate::text;

/// Names that mean something else: to programs that keep settings in JavaScript objects, or to us.
const RESERVED: [&str; 4] = ["__proto__", "constructor", "prototype", "mcparley"];

/// Names that Claude Code keeps for servers of its own: an entry with one of them is skipped there.
const RESERVED_BY_CLAUDE_CODE: [&str; 3] = ["claude-in-chrome", "computer-use", "workspace"];

/// Whether Claude Code skips an entry of this name.
#[must_use]
pub fn is_reserved_by_claude_code(name: &str) -> bool {
    RESERVED_BY_CLAUDE_CODE.contains(&name)
}

/// Takes `name` for a new server, if it is 1 to 64 characters of `[A-Za-z0-9_-]`.
///
/// # Errors
/// A [`NameError`] that says what is wrong with it.
pub fn check_new_server_name(name: &str) -> Result<ServerName, NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if let Some(character) = name.chars().find(|character| !is_public(*character)) {
        return Err(NameError::Character { name: shorten(name), character });
    }
    if name.len() > PUBLIC_NAME_LIMIT {
        return Err(NameError::TooLong { name: shorten(name), length: name.len() });
    }
    if RESERVED.contains(&name) {
        return Err(NameError::Reserved { name: name.to_owned() });
    }
    Ok(ServerName::new(name))
}

/// Takes `name` from a file that others may have written: 1 to 64 letters or digits of any alphabet, spaces and
/// `_-.:@+`.
///
/// Looser than the rule for new names, because names of other programs are loaded as they are, yet without anything
/// that could be a path, a picture or an escape.
///
/// # Errors
/// A [`NameError`] that says what is wrong with it.
pub fn check_written_name(name: &str) -> Result<(), NameError> {
    let fits = |character: char| character.is_alphanumeric() || " _-.:@+".contains(character);
    if name.trim().is_empty() {
        return Err(NameError::Empty);
    }
    if let Some(character) = name.chars().find(|character| !fits(*character)) {
        return Err(NameError::Character { name: shorten(name), character });
    }
    let length = name.chars().count();
    if length > PUBLIC_NAME_LIMIT {
        return Err(NameError::TooLong { name: shorten(name), length });
    }
    if name.starts_with('.') {
        return Err(NameError::Character { name: shorten(name), character: '.' });
    }
    Ok(())
}

/// What is wrong with a server's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is none.
    #[error("a server's name cannot be empty")]
    Empty,
    /// It is longer than a public name may be.
    #[error("`{name}…` has {length} characters; a server's name has at most {PUBLIC_NAME_LIMIT}")]
    TooLong {
        /// Its beginning.
        name: String,
        /// How long it is.
        length: usize,
    },
    /// It has a character that names do not have.
    #[error("`{}` contains `{}`; a server's name consists of letters, digits, `_` and `-`",
        text::display(name), text::display(character.encode_utf8(&mut [0; 4])))]
    Character {
        /// Its beginning.
        name: String,
        /// The first such character.
        character: char,
    },
    /// It means something else.
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
            Self::TooLong { name, .. } => suggest(name),
            Self::Character { name, .. } => suggest(name),
            Self::Reserved { name } => Some(format!("{}-server", suggest(name)?)),
        };
        suggestion.map(|name| format!("call it `{name}`"))
    }
}

fn shorten(name: &str) -> String {
    name.chars().take(PUBLIC_NAME_LIMIT).collect()
}

/// A name like `name` that would be taken; none if nothing readable is left of it.
fn suggest(name: &str) -> Option<String> {
    let normal = normalise(name);
    let words: Vec<_> = normal.split('_').filter(|word| !word.is_empty()).collect();
    let suggestion = words.join("_");
    suggestion.contains(|character: char| character.is_ascii_alphanumeric()).then_some(suggestion)
}
