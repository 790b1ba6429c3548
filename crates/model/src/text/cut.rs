//! Truncates texts that are too long.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

/// The marker at the end of a truncated text.
pub const TRUNCATED: &str = "… [truncated]";

/// Truncates a text to at most `limit` characters followed by [`TRUNCATED`]; a shorter text is unchanged.
#[must_use]
pub fn truncate_text(text: &str, limit: usize) -> Cow<'_, str> {
    match truncated_prefix(text, limit) {
        Some(beginning) => Cow::Owned([beginning, TRUNCATED].concat()),
        None => Cow::Borrowed(text),
    }
}

/// The first `limit` characters of a text that is longer; `None` if the text fits.
///
/// Ends between two graphemes, since half of a grapheme is another character than the author wrote. A
/// grapheme that alone is longer than the limit is omitted.
#[must_use]
pub fn truncated_prefix(text: &str, limit: usize) -> Option<&str> {
    // A character has at least one byte, so this avoids counting for almost every text.
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

/// Whether the first `limit` characters and the next one are ASCII without a carriage return, where every
/// character is a grapheme. Segmentation is slow, and most texts do not need it.
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
        assert_eq!(truncate_text("abcdef", 3), "abc… [truncated]");
        assert_eq!(truncate_text("ab\r\ncd", 3), "ab… [truncated]");
        // What follows belongs to the last character that would fit.
        assert_eq!(truncate_text("abce\u{301}fg", 4), "abc… [truncated]");
        assert_eq!(truncate_text("abc", 3), "abc");
    }
}
