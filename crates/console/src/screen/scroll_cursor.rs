//! A cursor in a list that is longer than the screen, and the part of the list that is shown.

use std::ops::Range;

/// The position in a list, and the first item that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScrollCursor {
    /// The item under the cursor.
    pub(super) index: usize,
    offset: usize,
}

impl ScrollCursor {
    /// Moves the cursor within a list of `len` items.
    pub(super) fn move_by(&mut self, delta: isize, len: usize) {
        self.index = self.index.saturating_add_signed(delta);
        self.clamp_to(len);
    }

    /// Moves the cursor to an item.
    pub(super) fn move_to(&mut self, index: usize) {
        self.index = index;
    }

    /// Moves the cursor into a list of `len` items.
    pub(super) fn clamp_to(&mut self, len: usize) {
        self.index = self.index.min(len.saturating_sub(1));
    }

    /// The items that are shown in `height` rows. The list is scrolled as little as possible to show the
    /// item under the cursor.
    pub(super) fn visible_range(&mut self, len: usize, height: usize) -> Range<usize> {
        self.clamp_to(len);
        let lowest = (self.index + 1).saturating_sub(height);
        self.offset = self.offset.clamp(lowest, self.index.max(lowest)).min(len.saturating_sub(height));
        self.offset..len.min(self.offset + height)
    }

    /// The rows of a text that are shown, the cursor being the first of them.
    pub(super) fn visible_rows(&mut self, len: usize, height: usize) -> Range<usize> {
        self.index = self.index.min(len.saturating_sub(height));
        self.index..len.min(self.index + height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn list_scrolls_as_little_as_possible() {
        let mut cursor = ScrollCursor::default();
        assert_eq!(cursor.visible_range(10, 4), 0..4);
        cursor.move_by(5, 10);
        assert_eq!((cursor.index, cursor.visible_range(10, 4)), (5, 2..6));
        cursor.move_by(-1, 10);
        assert_eq!(cursor.visible_range(10, 4), 2..6);
        cursor.move_by(-100, 10);
        assert_eq!((cursor.index, cursor.visible_range(10, 4)), (0, 0..4));
        cursor.move_by(100, 10);
        assert_eq!((cursor.index, cursor.visible_range(10, 4)), (9, 6..10));
    }

    // U4
    #[test]
    fn cursor_stays_in_a_list_that_becomes_shorter_and_on_a_screen_without_rows() {
        let mut cursor = ScrollCursor::default();
        cursor.move_by(9, 10);
        assert_eq!(cursor.visible_range(10, 4), 6..10);
        assert_eq!(cursor.visible_range(3, 4), 0..3);
        assert_eq!(cursor.index, 2);
        assert_eq!(cursor.visible_range(0, 4), 0..0);
        cursor.move_by(1, 10);
        assert!(cursor.visible_range(10, 0).is_empty());
        assert!(cursor.visible_rows(10, 0).is_empty());
    }

    // U4
    #[test]
    fn text_does_not_scroll_beyond_its_end() {
        let mut cursor = ScrollCursor::default();
        cursor.move_by(100, 1_000);
        assert_eq!(cursor.visible_rows(10, 4), 6..10);
        assert_eq!(cursor.visible_rows(2, 4), 0..2);
    }
}
