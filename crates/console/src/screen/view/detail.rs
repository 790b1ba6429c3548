//! Rendering of the selected server: its facts, the tabs, and the current page.

use ratatui::layout::Rect;

use super::super::cell_text::wrap_to_width;
use super::super::model::{Focus, ScreenModel};
use super::super::page::Page;
use super::super::server_detail::ServerDetail;
use super::layout::ScreenLayout;
use super::painter::{Painter, width_of};

/// The most bytes of a text that are wrapped for one page.
const TEXT_BYTES: usize = 256 * 1024;

impl ScreenModel {
    pub(super) fn draw_detail(&mut self, painter: &mut Painter<'_>, layout: &ScreenLayout) {
        if let Some(area) = layout.facts {
            let name = self.selected_row().map(|row| row.name.clone()).unwrap_or_default();
            let used = painter.draw_text(area, &format!(" {name}   "), painter.theme.strong());
            let rest = Rect { x: area.x + used, width: area.width - used, ..area };
            painter.draw_text(rest, &self.detail.facts.join("   "), painter.theme.faint());
        }
        if let Some(area) = layout.tabs {
            self.draw_tabs(painter, area);
        }
        if layout.body.is_empty() {
            return;
        }
        if self.page.is_list() {
            self.draw_rows(painter, layout.body);
        } else {
            self.draw_text(painter, layout.body);
        }
    }

    /// The tabs; only the current one where there is no room for all.
    fn draw_tabs(&self, painter: &mut Painter<'_>, area: Rect) {
        let tab = |page: Page| match page == self.page {
            true => format!("[{}]", self.detail.tab(page)),
            false => format!(" {} ", self.detail.tab(page)),
        };
        let tabs: Vec<String> = Page::ALL.into_iter().map(tab).collect();
        let line = tabs.concat();
        if width_of(&line) > usize::from(area.width) {
            painter.draw_text(
                area,
                &format!(" ← [{}] →", self.detail.tab(self.page)),
                painter.theme.strong(),
            );
            return;
        }
        let mut rest = area;
        for (page, tab) in Page::ALL.into_iter().zip(&tabs) {
            let style = if page == self.page { painter.theme.strong() } else { painter.theme.faint() };
            let used = painter.draw_text(rest, tab, style);
            rest = Rect { x: rest.x + used, width: rest.width - used, ..rest };
        }
    }

    fn draw_rows(&mut self, painter: &mut Painter<'_>, area: Rect) {
        if self.found.is_empty() {
            let is_filtered = !self.detail_filter.is_empty();
            let text =
                if is_filtered { "No row matches the filter." } else { ServerDetail::empty_text(self.page) };
            painter.draw_text(area, &format!("  {text}"), painter.theme.faint());
            return;
        }
        let len = self.found.len();
        let shown = self.cursor_mut().visible_range(len, usize::from(area.height));
        let (cursor, is_focused) = (self.cursor().index, self.focus == Focus::Detail);
        for (place, y) in shown.zip(area.y..) {
            let row = self.found.get(place).and_then(|index| self.detail.row(self.page, *index));
            let Some(row) = row else { continue };
            let line = Rect { y, height: 1, ..area };
            let is_selected = is_focused && place == cursor;
            painter.draw_text(line, if is_selected { "▸" } else { " " }, painter.theme.strong());
            let rest = Rect { x: line.x + 2.min(line.width), width: line.width.saturating_sub(3), ..line };
            painter.draw_split_line(rest, &row.text, &row.remark, painter.theme.tone(row.tone));
            if is_selected {
                painter.restyle(line, painter.theme.cursor(true));
            }
        }
    }

    fn draw_text(&mut self, painter: &mut Painter<'_>, area: Rect) {
        let mut text = self.page_text();
        text.truncate(text.floor_char_boundary(TEXT_BYTES));
        let lines = wrap_to_width(&text, usize::from(area.width.saturating_sub(3)));
        let shown = self.cursor_mut().visible_rows(lines.len(), usize::from(area.height));
        for (line, y) in lines.get(shown).unwrap_or_default().iter().zip(area.y..) {
            painter.draw_text(
                Rect { y, height: 1, ..area },
                &format!("  {line}"),
                ratatui::style::Style::new(),
            );
        }
    }
}
