//! List of servers: sorted, filtered, with a cursor that stays on its server.

use super::row_state::RowState;
use super::scroll_cursor::ScrollCursor;
use super::server_row::{RowId, ServerRow};

/// The servers in the order of the screen.
#[derive(Debug, Default)]
pub(super) struct RowList {
    rows: Vec<ServerRow>,
    /// The rows that the filter leaves, in the order of the sort key.
    order: Vec<usize>,
    sort: SortKey,
    filter: String,
    pub(super) cursor: ScrollCursor,
}

/// The order of the servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SortKey {
    #[default]
    Name,
    State,
    Scope,
    Tools,
}

impl SortKey {
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::State => "state",
            Self::Scope => "scope",
            Self::Tools => "tools",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Name => Self::State,
            Self::State => Self::Scope,
            Self::Scope => Self::Tools,
            Self::Tools => Self::Name,
        }
    }
}

impl RowList {
    /// Replaces the servers; the cursor stays on the server it was on.
    pub(super) fn set_rows(&mut self, rows: Vec<ServerRow>) {
        let selected = self.selected_row().map(|row| row.id.clone());
        self.rows = rows;
        self.arrange_rows(selected.as_ref());
    }

    /// The server under the cursor.
    pub(super) fn selected_row(&self) -> Option<&ServerRow> {
        self.visible_row(self.cursor.index)
    }

    /// The row at a place of the screen's order.
    pub(super) fn visible_row(&self, place: usize) -> Option<&ServerRow> {
        self.order.get(place).and_then(|index| self.rows.get(*index))
    }

    /// The number of rows that the filter leaves.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn sort(&self) -> SortKey {
        self.sort
    }

    pub(super) fn filter(&self) -> &str {
        &self.filter
    }

    /// The number of servers, and of those that are connected.
    pub(super) fn totals(&self) -> (usize, usize) {
        let connected = self.rows.iter().filter(|row| matches!(row.state, RowState::Connected));
        (self.rows.len(), connected.count())
    }

    /// Whether a row changes as time passes: a countdown, or a running call.
    pub(super) fn is_ticking(&self) -> bool {
        self.rows.iter().any(|row| row.state.counts_down() || row.running > 0)
    }

    /// Every row, whatever the filter is.
    pub(super) fn rows(&self) -> &[ServerRow] {
        &self.rows
    }

    /// Sorts by the next key; the cursor stays on its server.
    pub(super) fn sort_by_next_key(&mut self) {
        let selected = self.selected_row().map(|row| row.id.clone());
        self.sort = self.sort.next();
        self.arrange_rows(selected.as_ref());
    }

    /// Shows only the rows that contain the text; the cursor stays on its server if that is one of them.
    pub(super) fn set_filter(&mut self, filter: &str) {
        let selected = self.selected_row().map(|row| row.id.clone());
        filter.clone_into(&mut self.filter);
        self.arrange_rows(selected.as_ref());
    }

    fn arrange_rows(&mut self, selected: Option<&RowId>) {
        let (rows, filter) = (&self.rows, self.filter.to_lowercase());
        let is_left = |index: &usize| rows.get(*index).is_some_and(|row| row.matches_filter(&filter));
        self.order = (0..rows.len()).filter(|index| filter.is_empty() || is_left(index)).collect();
        let sort = self.sort;
        // Ties are decided by name and origin, so that the order is the same whatever the host reports first.
        self.order
            .sort_by_cached_key(|index| rows.get(*index).map(|row| (sort_rank(row, sort), row.id.clone())));
        let place = selected.and_then(|id| {
            self.order.iter().position(|index| rows.get(*index).is_some_and(|row| row.id == *id))
        });
        match place {
            Some(place) => self.cursor.move_to(place),
            None => self.cursor.clamp_to(self.order.len()),
        }
    }
}

fn sort_rank(row: &ServerRow, sort: SortKey) -> (usize, &'static str) {
    match sort {
        SortKey::Name => (0, ""),
        SortKey::State => (usize::from(row.state.rank()), ""),
        SortKey::Scope => (0, row.scope),
        SortKey::Tools => (usize::MAX - row.tools, ""),
    }
}

#[cfg(test)]
mod tests;
