//! Decides how foreign text is shown to a person and handed to a model.
//!
//! A person must see that something was hidden, so [`display`] turns it into visible escapes; a model must
//! not be steered by what its user cannot see, so [`clean`] takes it away. Which characters these are is
//! decided once, in [`hidden`](self::hidden_count).

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Serialize;

mod cut;
mod duration;
mod hidden;
mod json;
#[cfg(test)]
mod tests;

pub use cut::{TRUNCATED, beginning, cut};
pub use duration::rounded;
use hidden::Marked;
pub(crate) use json::may_hide;
pub use json::{clean_json, clean_strings, is_deeper_than};

/// The text on one line of a terminal: whatever is hidden, or would move the cursor, becomes an escape.
///
/// Idempotent, because an escape consists of plain characters; a backslash is left alone for that reason,
/// so the result is for eyes and not for reading back.
#[must_use]
pub fn display(text: &str) -> Cow<'_, str> {
    // Printable ASCII hides nothing, and most texts are nothing else.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let changes = |text| hidden::mark(text).filter(|at| at.hidden || matches!(at.character, '\n' | '\t'));
    rewrite(text, changes, escape)
}

/// As [`display`], over several lines: newline and tab stay what they are.
#[must_use]
pub fn display_block(text: &str) -> Cow<'_, str> {
    rewrite(text, hidden::hidden, escape)
}

/// JSON whose strings hold nothing hidden: the same value, in characters a terminal does not act upon.
///
/// Hidden characters stand only inside strings of a JSON text, where an escape means the same.
#[must_use]
pub fn display_json(json: &str) -> Cow<'_, str> {
    rewrite(json, hidden::hidden, |out, character| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            write!(out, "\\u{unit:04x}").unwrap_or_default();
        }
    })
}

/// Whether a shell takes the text for one plain word, as it is.
#[must_use]
pub fn is_shell_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/@%+,".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain)
}

/// The text as one word of a shell command that a person may copy.
#[must_use]
pub fn shell_word(text: &str) -> Cow<'_, str> {
    if is_shell_word(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// A command line for approval: one element on each line, nothing cut, nothing that could hide a part.
///
/// An element that is empty or has spaces is put in quotes, so that padding cannot pass for its end.
#[must_use]
pub fn display_argv<'a>(argv: impl IntoIterator<Item = &'a str>) -> String {
    let lines = argv.into_iter().map(|element| {
        let shown = display(element);
        if element.is_empty() || element.contains(char::is_whitespace) {
            Cow::Owned(format!("\"{}\"", shown.replace('"', "\\\"")))
        } else {
            shown
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The text for a model: hidden characters are gone, newline and tab stay.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    rewrite(text, hidden::hidden, |_, _| ())
}

/// [`clean`] for a text of one's own: the same memory when nothing was hidden in it.
#[must_use]
pub fn into_clean(text: Cow<'_, str>) -> String {
    match clean(&text) {
        Cow::Owned(cleaned) => cleaned,
        Cow::Borrowed(_) => text.into_owned(),
    }
}

/// How many characters [`clean`] would take away, for telling a person that it did.
#[must_use]
pub fn hidden_count(text: &str) -> usize {
    hidden::hidden(text).count()
}

/// Replaces what `changes` finds, in order. Copies nothing when there is nothing; most texts have none.
fn rewrite<'t, I: Iterator<Item = Marked>>(
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

fn escape(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // Writing to a `String` cannot fail.
        '\0'..='\x7f' => write!(out, "\\x{:02x}", u32::from(character)).unwrap_or_default(),
        _ => write!(out, "\\u{{{:x}}}", u32::from(character)).unwrap_or_default(),
    }
}

/// Text that came from a server: never part of a decision, and cleaned before anyone sees it.
///
/// Has no `Display` on purpose: whoever prints it says for whom.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    /// Takes the text as it arrived.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text on one line of a terminal; see [`display`].
    #[must_use]
    pub fn display(&self) -> Cow<'_, str> {
        display(&self.0)
    }

    /// The text over several lines of a terminal; see [`display_block`].
    #[must_use]
    pub fn display_block(&self) -> Cow<'_, str> {
        display_block(&self.0)
    }

    /// The text for a model; see [`clean`].
    #[must_use]
    pub fn clean(&self) -> Cow<'_, str> {
        clean(&self.0)
    }

    /// The text as it arrived, for records and for comparing; never for showing.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted(\"{}\")", self.display())
    }
}
