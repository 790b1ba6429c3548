//! Text in terminal cells: width, cutting and wrapping, between graphemes and never inside one.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The mark at the end of a text that was cut.
const CUT: &str = "…";

/// The number of cells that a text takes.
pub(super) fn text_width(text: &str) -> usize {
    text.width()
}

/// The text, cut to a number of cells; a text that was cut ends with an ellipsis.
pub(super) fn cut_to_width(text: &str, width: usize) -> Cow<'_, str> {
    // A byte is at most one cell wide, so most texts need no count.
    if text.len() <= width || text_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let kept = text.grapheme_indices(true).take_while(|(_, grapheme)| {
        used += grapheme.width();
        used <= room
    });
    let end = kept.last().map_or(0, |(at, grapheme)| at + grapheme.len());
    Cow::Owned([text.get(..end).unwrap_or_default(), CUT].concat())
}

/// The lines of a text, wrapped to a number of cells: at a space where there is one in the last half of a
/// line, else between two graphemes.
pub(super) fn wrap_to_width(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    text.lines().flat_map(|line| wrap_line(line.trim_end(), width)).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut wrapped = Vec::new();
    let mut rest = line;
    while rest.len() > width && text_width(rest) > width {
        let end = line_end(rest, width);
        let (first, behind) = rest.split_at(end);
        wrapped.push(first.trim_end().to_owned());
        rest = behind.trim_start();
    }
    if !rest.is_empty() || wrapped.is_empty() {
        wrapped.push(rest.to_owned());
    }
    wrapped
}

/// The end of the first line of a text that is wider than `width`.
fn line_end(text: &str, width: usize) -> usize {
    let (mut used, mut end, mut space) = (0, 0, None);
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        // One grapheme is taken even if it does not fit, or there would be no end.
        if used > width && at > 0 {
            break;
        }
        end = at + grapheme.len();
        if grapheme == " " && used > width / 2 {
            space = Some(end);
        }
    }
    let is_broken_at_space = text.get(end..).is_some_and(|rest| rest.starts_with(' '));
    if is_broken_at_space { end } else { space.unwrap_or(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn text_is_cut_between_graphemes_and_marked() {
        let rows = [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("any", 1, "…"),
            ("any", 0, ""),
        ];
        for (text, width, cut) in rows {
            assert_eq!(cut_to_width(text, width), cut, "{text} in {width} cells");
            assert!(text_width(&cut_to_width(text, width)) <= width);
        }
    }

    // U4
    #[test]
    fn text_is_wrapped_at_spaces_and_long_words_are_split() {
        assert_eq!(wrap_to_width("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_to_width("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap_to_width("日本語です", 4), ["日本", "語で", "す"]);
        assert_eq!(wrap_to_width("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrap_to_width("日本", 1), ["日", "本"]);
    }
}
