//! Decides where a text that is too long ends.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

/// What stands where a text was cut.
pub const TRUNCATED: &str = "… [truncated]";

/// The text, or at most `limit` characters of it followed by [`TRUNCATED`].
///
/// Ends between two graphemes, since half of one is another character than the author wrote. A grapheme
/// that alone is longer than the limit is left out whole.
#[must_use]
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    // A character has at least one byte, so this spares counting for almost every text.
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let mut characters = 0;
    let fitting = text.graphemes(true).take_while(|grapheme| {
        characters += grapheme.chars().count();
        characters <= limit
    });
    let end = fitting.map(str::len).sum();
    Cow::Owned([text.get(..end).unwrap_or_default(), TRUNCATED].concat())
}
