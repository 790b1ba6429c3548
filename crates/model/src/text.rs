//! Sanitizes foreign text for a terminal and for a model.
//!
//! The user must see that a character was hidden, so [`display_line`] turns it into a visible escape; a
//! model must not be steered by text that its user cannot see, so [`clean_text`] removes it. The set of
//! hidden characters is defined once, in [`hidden`](self::hidden_count).

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Serialize;

mod cut;
mod duration;
mod hidden;
mod json;
#[cfg(test)]
mod tests;

pub use cut::{TRUNCATED, truncate_text, truncated_prefix};
pub use duration::round_duration;
use hidden::MarkedCharacter;
pub(crate) use json::may_hide_characters;
pub use json::{clean_json, clean_strings, is_deeper_than};

/// Escapes a text for one line of a terminal: hidden characters and those that move the cursor become
/// escapes.
///
/// Idempotent, because an escape consists of plain characters; a backslash is left alone for that reason,
/// so the result is for reading and cannot be parsed back.
#[must_use]
pub fn display_line(text: &str) -> Cow<'_, str> {
    // Printable ASCII has no hidden characters, and most texts consist of it.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let changes =
        |text| hidden::mark_characters(text).filter(|at| at.hidden || matches!(at.character, '\n' | '\t'));
    replace_marked(text, changes, push_escape)
}

/// Escapes a text for several lines of a terminal, like [`display_line`], but keeps newlines and tabs.
#[must_use]
pub fn display_block(text: &str) -> Cow<'_, str> {
    replace_marked(text, hidden::hidden_characters, push_escape)
}

/// Escapes hidden characters in JSON for a terminal; the JSON value stays the same.
///
/// Hidden characters occur only inside strings of a JSON text, where an escape means the same.
#[must_use]
pub fn display_json(json: &str) -> Cow<'_, str> {
    replace_marked(json, hidden::hidden_characters, |out, character| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            write!(out, "\\u{unit:04x}").unwrap_or_default();
        }
    })
}

/// Whether a shell reads the text as one plain word, without quotes.
#[must_use]
pub fn is_shell_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/@%+,".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain)
}

/// Quotes the text as one word of a shell command that the user may copy.
#[must_use]
pub fn shell_word(text: &str) -> Cow<'_, str> {
    if is_shell_word(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Escapes a command line for approval: one element on each line, without truncation or hidden parts.
///
/// An element that is empty or has spaces is put in quotes, so that padding cannot pass for its end.
#[must_use]
pub fn display_argv<'a>(argv: impl IntoIterator<Item = &'a str>) -> String {
    let lines = argv.into_iter().map(|element| {
        let shown = display_line(element);
        if element.is_empty() || element.contains(char::is_whitespace) {
            Cow::Owned(format!("\"{}\"", shown.replace('"', "\\\"")))
        } else {
            shown
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Removes hidden characters from a text for a model; newlines and tabs stay.
#[must_use]
pub fn clean_text(text: &str) -> Cow<'_, str> {
    replace_marked(text, hidden::hidden_characters, |_, _| ())
}

/// Removes hidden characters from an owned text, without a copy if there are none.
#[must_use]
pub fn into_clean_text(text: Cow<'_, str>) -> String {
    match clean_text(&text) {
        Cow::Owned(cleaned) => cleaned,
        Cow::Borrowed(_) => text.into_owned(),
    }
}

/// The number of characters [`clean_text`] would remove, to report them to the user.
#[must_use]
pub fn hidden_count(text: &str) -> usize {
    hidden::hidden_characters(text).count()
}

/// Whether the character is hidden, or is hidden between some neighbors.
#[must_use]
pub fn can_be_hidden(character: char) -> bool {
    hidden::can_be_hidden(character)
}

/// Replaces the characters found by `changes`, in order. Copies nothing if there are none, as in most
/// texts.
fn replace_marked<'t, I: Iterator<Item = MarkedCharacter>>(
    text: &'t str,
    changes: impl Fn(&'t str) -> I,
    replace: impl Fn(&mut String, char),
) -> Cow<'t, str> {
    let mut changes = changes(text).peekable();
    if changes.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for at in changes {
        out.push_str(text.get(kept..at.offset).unwrap_or_default());
        replace(&mut out, at.character);
        kept = at.offset + at.character.len_utf8();
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

fn push_escape(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // Writing to a `String` cannot fail.
        '\0'..='\x7f' => write!(out, "\\x{:02x}", u32::from(character)).unwrap_or_default(),
        _ => write!(out, "\\u{{{:x}}}", u32::from(character)).unwrap_or_default(),
    }
}

/// Text from a server: never part of a decision, and sanitized before it is shown.
///
/// Has no `Display` on purpose: the code that prints it has to choose an audience.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    /// Wraps the text as it arrived.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text escaped for one line of a terminal; see [`display_line`].
    #[must_use]
    pub fn display_line(&self) -> Cow<'_, str> {
        display_line(&self.0)
    }

    /// The text escaped for several lines of a terminal; see [`display_block`].
    #[must_use]
    pub fn display_block(&self) -> Cow<'_, str> {
        display_block(&self.0)
    }

    /// The text for a model, without hidden characters; see [`clean_text`].
    #[must_use]
    pub fn clean_text(&self) -> Cow<'_, str> {
        clean_text(&self.0)
    }

    /// The text as it arrived, for records and comparisons; never for display.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted(\"{}\")", self.display_line())
    }
}
