//! Folds a long text: shows its beginning, and counts the lines that are left out.

#[cfg(test)]
mod tests;

use unicode_width::UnicodeWidthChar;

/// The lines of a result that are shown before it is folded.
pub(crate) const FOLD_LINES: usize = 20;

/// A text for the terminal, and the number of its lines that are not shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoldedText<'t> {
    /// The lines that are shown.
    pub(crate) shown: &'t str,
    /// The number of lines of the terminal that are left out.
    pub(crate) hidden_lines: usize,
}

/// Folds a text after `limit` lines on a terminal of this width. A long line counts as often as it wraps.
pub(crate) fn fold_text(text: &str, columns: usize, limit: usize) -> FoldedText<'_> {
    let text = text.trim_end_matches('\n');
    let mut rows = RowCounter { columns: columns.max(1), rows: 0, column: 0 };
    let mut end = None;
    for (place, character) in text.char_indices() {
        let row = rows.place_character(character);
        if row >= limit && end.is_none() {
            end = Some(place);
        }
    }
    let total = rows.rows + 1;
    // One hidden line would be replaced by one line that says so.
    match end.filter(|_| total > limit + 1) {
        Some(end) => FoldedText {
            shown: text.get(..end).unwrap_or(text).trim_end_matches('\n'),
            hidden_lines: total - limit,
        },
        None => FoldedText { shown: text, hidden_lines: 0 },
    }
}

/// Counts the rows that a text takes on a terminal.
struct RowCounter {
    columns: usize,
    /// The finished rows.
    rows: usize,
    column: usize,
}

impl RowCounter {
    /// Places a character; returns the row in which it stands.
    fn place_character(&mut self, character: char) -> usize {
        if character == '\n' {
            let row = self.rows;
            (self.rows, self.column) = (self.rows + 1, 0);
            return row;
        }
        let width = if character == '\t' { 8 - self.column % 8 } else { character.width().unwrap_or(0) };
        if self.column + width > self.columns && self.column > 0 {
            (self.rows, self.column) = (self.rows + 1, 0);
        }
        self.column += width;
        self.rows
    }
}
