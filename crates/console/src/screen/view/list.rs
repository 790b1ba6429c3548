//! Rendering of the list of servers.

use ratatui::layout::Rect;
use tokio::time::Instant;

use super::super::model::{Focus, ScreenModel};
use super::super::server_row::ServerRow;
use super::painter::{Painter, width_of};

/// The widths below which columns are left out: the scope first, then the transport.
const WITH_SCOPE: u16 = 64;
const WITH_TRANSPORT: u16 = 48;

/// The widths of the columns.
const SCOPE_CELLS: u16 = 11;
const TRANSPORT_CELLS: u16 = 7;

/// The cells of cursor and symbol before the name.
const MARK_CELLS: u16 = 4;

impl ScreenModel {
    pub(super) fn draw_list(&mut self, painter: &mut Painter<'_>, area: Rect, now: Instant) {
        if area.is_empty() {
            return;
        }
        if self.list.len() == 0 {
            let text = if self.list.rows().is_empty() { NO_SERVERS } else { "No server matches the filter." };
            painter.draw_text(area, &format!("  {text}"), painter.theme.faint());
            return;
        }
        let name_cells = self.name_cells(area.width);
        let len = self.list.len();
        let shown = self.list.cursor.visible_range(len, usize::from(area.height));
        for (place, y) in shown.zip(area.y..) {
            let Some(row) = self.list.visible_row(place) else { continue };
            let is_selected = place == self.list.cursor.index;
            let line = Rect { y, height: 1, ..area };
            let focus = self.focus;
            draw_row(painter, line, row, RowLayout { is_selected, focus, name_cells, now });
        }
    }

    /// The width of the column of names: as wide as the longest, up to a third of the screen.
    fn name_cells(&self, width: u16) -> u16 {
        let longest = self.list.rows().iter().map(|row| width_of(&row.name)).max().unwrap_or_default();
        u16::try_from(longest).unwrap_or(u16::MAX).clamp(4, (width / 3).max(4)) + 2
    }
}

const NO_SERVERS: &str = "No servers are configured. Add one: mcparley add NAME -- COMMAND";

/// The parts of a row that are not of its server.
#[derive(Clone, Copy)]
struct RowLayout {
    is_selected: bool,
    focus: Focus,
    name_cells: u16,
    now: Instant,
}

fn draw_row(painter: &mut Painter<'_>, area: Rect, row: &ServerRow, layout: RowLayout) {
    let RowLayout { is_selected, focus, name_cells, now } = layout;
    let mut rest = area;
    let mut column = |painter: &mut Painter<'_>, text: &str, cells: u16, style| {
        let cells = cells.min(rest.width);
        painter.draw_text(Rect { width: cells.saturating_sub(1), ..rest }, text, style);
        rest = Rect { x: rest.x + cells, width: rest.width - cells, ..rest };
    };
    let (plain, tone) = (ratatui::style::Style::new(), painter.theme.tone(row.state.tone()));
    let cursor = match (is_selected, focus) {
        (true, Focus::Servers) => "▸",
        (true, Focus::Detail) => "▹",
        (false, _) => " ",
    };
    column(painter, cursor, 2, plain);
    column(painter, row.state.symbol(), MARK_CELLS - 2, tone);
    column(painter, &row.name, name_cells, plain);
    if area.width >= WITH_SCOPE {
        column(painter, row.scope, SCOPE_CELLS, plain);
    }
    if area.width >= WITH_TRANSPORT {
        column(painter, row.transport, TRANSPORT_CELLS, plain);
    }
    painter.draw_text(rest, &row.summary(now), tone);
    if is_selected {
        painter.restyle(area, painter.theme.cursor(focus == Focus::Servers));
    }
}
