//! Rendering of the screen: the list of servers above, the selected one below, popups above both.
//!
//! Only rows on the screen are made and drawn. All text is cleaned and cut in one place, [`Painter`].

mod detail;
mod layout;
mod list;
mod painter;
mod popup;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::time::Instant;

use super::model::{Focus, ScreenModel};
use super::theme::Theme;
use layout::ScreenLayout;
use painter::Painter;

/// The keys in the last line, the most useful first, and those that are always shown.
const SERVER_KEYS: [&str; 9] = [
    "↑↓ move",
    "←→ pages",
    "Enter details",
    "e on/off",
    "r reconnect",
    "l sign in",
    "a approve",
    "/ filter",
    "s sort",
];
const DETAIL_KEYS: [&str; 5] = ["↑↓ move", "←→ pages", "Enter details", "e on/off", "/ filter"];
const LAST_KEYS: &str = "? help · q back";

impl ScreenModel {
    /// Draws the screen, with colors or without.
    pub fn draw(&mut self, frame: &mut Frame<'_>, has_colors: bool) {
        let area = frame.area();
        self.draw_at(frame.buffer_mut(), area, Theme::new(has_colors), Instant::now());
    }

    /// Draws the screen as it is at a time, which countdowns are relative to.
    pub(super) fn draw_at(&mut self, buffer: &mut Buffer, area: Rect, theme: Theme, now: Instant) {
        let mut painter = Painter::new(buffer, theme);
        let layout = ScreenLayout::new(area, self.list.len(), self.focus);
        self.page_height = match self.focus {
            Focus::Servers => usize::from(layout.list.height),
            Focus::Detail => usize::from(layout.body.height),
        };
        if let Some(title) = layout.title {
            self.draw_title(&mut painter, title);
        }
        self.draw_list(&mut painter, layout.list, now);
        if let Some(rule) = layout.rule {
            painter.draw_line(rule);
        }
        self.draw_detail(&mut painter, &layout);
        if let Some(footer) = layout.footer {
            self.draw_footer(&mut painter, footer);
        }
        if self.popup.is_some() {
            let last = layout.footer.map_or(0, |footer| footer.height);
            self.draw_popup(&mut painter, Rect { height: area.height - last, ..area });
        }
    }

    fn draw_title(&self, painter: &mut Painter<'_>, area: Rect) {
        let (all, connected) = self.list.totals();
        let sort = format!("sort: {} ", self.list.sort().label());
        painter.draw_split_line(area, " Servers", &sort, painter.theme.strong());
        let counts = format!("{all} · {connected} connected");
        let middle = area.width.saturating_sub(u16::try_from(counts.len()).unwrap_or(u16::MAX)) / 2;
        if middle > 10 {
            let rest = Rect { x: area.x + middle, width: area.width - middle, ..area };
            painter.draw_text(rest, &counts, painter.theme.strong());
        }
    }

    /// The last line: the filter that is typed, a message, or the keys.
    fn draw_footer(&self, painter: &mut Painter<'_>, area: Rect) {
        if self.is_typing {
            painter.draw_text(area, &format!(" /{}▏", self.filter()), painter.theme.strong());
        } else if let Some(message) = &self.message {
            painter.draw_text(area, &format!(" {message}"), painter.theme.strong());
        } else if self.popup.is_none() {
            let filter = match self.filter() {
                "" => String::new(),
                filter => format!("/{filter} · Esc clears · "),
            };
            painter.draw_text(area, &key_line(self.focus, &filter, area.width), painter.theme.faint());
        }
    }
}

/// The keys that fit into a line.
fn key_line(focus: Focus, filter: &str, width: u16) -> String {
    let keys: &[&str] = match focus {
        Focus::Servers => &SERVER_KEYS,
        Focus::Detail => &DETAIL_KEYS,
    };
    let mut line = format!(" {filter}");
    for key in keys {
        let longer = format!("{line}{key} · ");
        if painter::width_of(&longer) + painter::width_of(LAST_KEYS) > usize::from(width) {
            break;
        }
        line = longer;
    }
    line + LAST_KEYS
}

#[cfg(test)]
mod tests;
