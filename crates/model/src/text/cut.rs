//! Decides where a text that is too long ends.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

/// What stands where a text was cut.
pub const TRUNCATED: &str = "… [truncated]";

/// The text, or at most `limit` characters of it followed by [`TRUNCATED`].
#[must_use]
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match beginning(text, limit) {
        Some(beginning) => Cow::Owned([beginning, TRUNCATED].concat()),
        None => Cow::Borrowed(text),
    }
}

/// At most `limit` characters of a text that has more; nothing if that is all of it.
///
/// Ends between two graphemes, since half of one is another character than the author wrote. A grapheme
/// that alone is longer than the limit is left out whole.
#[must_use]
pub fn beginning(text: &str, limit: usize) -> Option<&str> {
    // A character has at least one byte, so this spares counting for almost every text.
    if text.len() <= limit {
        return None;
    }
    if is_plain(text, limit) {
        return text.get(..limit);
    }
    text.chars().nth(limit)?;
    let mut characters = 0;
    let fitting = text.graphemes(true).take_while(|grapheme| {
        characters += grapheme.chars().count();
        characters <= limit
    });
    let end = fitting.map(str::len).sum();
    text.get(..end)
}

/// Whether the first `limit` characters and the one behind them are ASCII, where only a line end of two characters is a
/// grapheme of more than one. Looking graphemes up is slow, and most texts need none of it.
fn is_plain(text: &str, limit: usize) -> bool {
    let beginning = text.as_bytes().get(..=limit);
    beginning.is_some_and(|beginning| beginning.is_ascii() && !beginning.contains(&b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // B39
    #[test]
    fn plain_text_is_cut_where_its_graphemes_end() {
        assert_eq!(cut("abcdef", 3), "abc… [truncated]");
        assert_eq!(cut("ab\r\ncd", 3), "ab… [truncated]");
        // What follows belongs to the last character that would fit.
        assert_eq!(cut("abce\u{301}fg", 4), "abc… [truncated]");
        assert_eq!(cut("abc", 3), "abc");
    }
}
