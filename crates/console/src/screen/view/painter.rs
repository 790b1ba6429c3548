//! Painter: writes text into cells, cleaned and cut.
//!
//! The only place that writes to the buffer, so that no text of a server reaches the terminal uncleaned.

use mcparley::model::text::display_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::cell_text::{cut_to_width, text_width};
use super::super::theme::Theme;

/// The space between a text and the remark at the end of its row.
const GAP: usize = 2;

/// Writes into the cells of the screen.
pub(super) struct Painter<'b> {
    buffer: &'b mut Buffer,
    pub(super) theme: Theme,
}

impl<'b> Painter<'b> {
    pub(super) fn new(buffer: &'b mut Buffer, theme: Theme) -> Self {
        Self { buffer, theme }
    }

    /// Writes one line of text into the first row of an area; returns the number of cells.
    pub(super) fn draw_text(&mut self, area: Rect, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.buffer.area);
        if area.is_empty() {
            return 0;
        }
        let clean = display_line(text);
        let cut = cut_to_width(&clean, usize::from(area.width));
        let (end, _) = self.buffer.set_stringn(area.x, area.y, &cut, usize::from(area.width), style);
        end.saturating_sub(area.x)
    }

    /// Writes a text, and a remark at the end of the same row. The remark has at most half of the row, unless
    /// the text leaves more.
    pub(super) fn draw_split_line(&mut self, area: Rect, text: &str, remark: &str, style: Style) {
        let (whole, wanted) = (usize::from(area.width), width_of(remark));
        if wanted == 0 {
            self.draw_text(area, text, style);
            return;
        }
        let left = whole.saturating_sub(width_of(text) + GAP);
        let room = wanted.min(left.max(whole / 2));
        let start = u16::try_from(whole.saturating_sub(room)).unwrap_or(u16::MAX);
        let before = start.saturating_sub(GAP as u16);
        self.draw_text(Rect { width: before, ..area }, text, style);
        let end = Rect { x: area.x.saturating_add(start), width: area.width - start, ..area };
        self.draw_text(end, remark, style);
    }

    /// Draws a line through an area.
    pub(super) fn draw_line(&mut self, area: Rect) {
        let line = "─".repeat(usize::from(area.width));
        self.draw_text(area, &line, self.theme.faint());
    }

    /// Changes the style of an area.
    pub(super) fn restyle(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Removes all text from an area.
    pub(super) fn clear_area(&mut self, area: Rect) {
        for position in area.intersection(self.buffer.area).positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
            }
        }
    }
}

/// The number of cells of a text, once it is cleaned.
pub(super) fn width_of(text: &str) -> usize {
    text_width(&display_line(text))
}
