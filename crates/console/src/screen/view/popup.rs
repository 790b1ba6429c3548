//! Rendering of a popup: a box with a title, a text that scrolls, and its keys.

use ratatui::layout::{Margin, Rect};
use ratatui::style::Style;

use super::super::cell_text::{cut_to_width, wrap_to_width};
use super::super::model::ScreenModel;
use super::painter::{Painter, width_of};

/// The most bytes of a popup's text.
const TEXT_BYTES: usize = 256 * 1024;

impl ScreenModel {
    /// Draws the popup over all other text: definitions and addresses need the room.
    pub(super) fn draw_popup(&mut self, painter: &mut Painter<'_>, area: Rect) {
        let Some(popup) = &mut self.popup else { return };
        painter.clear_area(area);
        draw_box(painter, area, &popup.title, popup.key_hints());
        let inner = area.inner(Margin::new(2, 1));
        if inner.is_empty() {
            return;
        }
        let end = popup.text.floor_char_boundary(TEXT_BYTES);
        let lines = wrap_to_width(popup.text.get(..end).unwrap_or_default(), usize::from(inner.width));
        let height = usize::from(inner.height);
        let shown = popup.scroll.visible_rows(lines.len(), height);
        for (line, y) in lines.get(shown).unwrap_or_default().iter().zip(inner.y..) {
            painter.draw_text(Rect { y, height: 1, ..inner }, line, Style::new());
        }
        self.page_height = height;
    }
}

/// Draws a frame with a title in its upper edge and the keys in its lower one.
fn draw_box(painter: &mut Painter<'_>, area: Rect, title: &str, keys: &str) {
    let edge = |corners: (&str, &str), label: &str| {
        let room = usize::from(area.width).saturating_sub(6);
        let label = mcparley::model::text::display_line(label).into_owned();
        let label = cut_to_width(&label, room);
        let line = "─".repeat(room.saturating_sub(width_of(&label)) + 1);
        format!("{}─ {label} {line}{}", corners.0, corners.1)
    };
    let faint = painter.theme.faint();
    painter.draw_text(area, &edge(("┌", "┐"), title), painter.theme.strong());
    for y in area.y + 1..(area.y + area.height).saturating_sub(1) {
        painter.draw_text(Rect { y, width: 1, height: 1, ..area }, "│", faint);
        let right = Rect { x: (area.x + area.width).saturating_sub(1), y, width: 1, height: 1 };
        painter.draw_text(right, "│", faint);
    }
    if area.height >= 2 {
        let bottom = Rect { y: area.y + area.height - 1, height: 1, ..area };
        painter.draw_text(bottom, &edge(("└", "┘"), keys), faint);
    }
}
