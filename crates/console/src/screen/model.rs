//! Model of the screen: the servers, the selected one, and the position of every cursor. Pure: keys go in,
//! commands for the host come out.

mod keys;

use std::collections::HashMap;

use mcparley::Host;
use mcparley::model::name::{ServerName, ToolName};

use super::page::Page;
use super::popup::Popup;
use super::row_list::RowList;
use super::scroll_cursor::ScrollCursor;
use super::server_detail::ServerDetail;
use super::server_row::{RowId, ServerRow, read_rows};

/// The content of the screen.
#[derive(Debug, Default)]
pub struct ScreenModel {
    pub(super) list: RowList,
    pub(super) detail: ServerDetail,
    pub(super) page: Page,
    /// The rows of the page that the filter leaves.
    pub(super) found: Vec<usize>,
    /// The position on each page.
    pub(super) cursors: HashMap<Page, ScrollCursor>,
    pub(super) detail_filter: String,
    pub(super) focus: Focus,
    /// Whether a filter is being typed for the pane in focus.
    pub(super) is_typing: bool,
    pub(super) popup: Option<Popup>,
    /// The message of the last command, until the next key.
    pub(super) message: Option<String>,
    /// The state of the sign-in to a server, in words; read when the page about it is shown.
    pub(super) sign_in: Option<(ServerName, String)>,
    /// The number of rows of each pane when it was drawn last, for the keys that move by a screen.
    pub(super) page_height: usize,
}

/// The pane that the keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    Servers,
    Detail,
}

/// A command of the user, for the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScreenCommand {
    Quit,
    Reconnect(ServerName),
    SwitchServer {
        server: ServerName,
        on: bool,
        is_configured: bool,
    },
    SwitchTool {
        server: ServerName,
        tool: ToolName,
        on: bool,
    },
    SignIn(ServerName),
    OpenPage {
        server: ServerName,
        page: String,
    },
    /// The page of a sign-in is copied, for a browser on another machine.
    CopyPage(String),
    ShowApproval(RowId),
    Approve {
        server: ServerName,
        definition: String,
    },
    /// The selected server is another: its detail has to be read.
    ReadDetail,
}

impl ScreenModel {
    /// A model of the host's servers as they are now.
    #[must_use]
    pub fn from_host(host: &Host) -> Self {
        let mut model = Self::default();
        model.refresh(host);
        model
    }

    /// Reads the servers and the detail of the selected one again.
    pub fn refresh(&mut self, host: &Host) {
        self.list.set_rows(read_rows(host));
        self.refresh_detail(host);
    }

    /// Reads the detail of the selected server again.
    pub(super) fn refresh_detail(&mut self, host: &Host) {
        let detail = match self.list.selected_row() {
            Some(row) => ServerDetail::read(host, row, &self.detail),
            None => ServerDetail::default(),
        };
        self.set_detail(detail);
    }

    /// Replaces the detail. A log whose end is shown follows its new lines.
    pub(super) fn set_detail(&mut self, detail: ServerDetail) {
        let is_at_end = self.page == Page::Log && self.cursor().index + 1 >= self.found.len();
        self.detail = detail;
        self.find_rows();
        if is_at_end {
            let last = self.found.len().saturating_sub(1);
            self.cursor_mut().move_to(last);
        }
    }

    /// The server under the cursor.
    pub(super) fn selected_row(&self) -> Option<&ServerRow> {
        self.list.selected_row()
    }

    /// Whether the screen changes as time passes, so that it has to be drawn again without an event.
    pub(super) fn is_ticking(&self) -> bool {
        self.list.is_ticking()
    }

    /// The server whose sign-in state is shown but not known yet.
    pub(super) fn unknown_sign_in(&self) -> Option<ServerName> {
        let server = &self.selected_row()?.id.server;
        let is_known = self.sign_in.as_ref().is_some_and(|(known, _)| known == server);
        (self.page == Page::About && !is_known).then(|| server.clone())
    }

    /// The text of a page that is not a list.
    pub(super) fn page_text(&self) -> String {
        let mut text = self.detail.text(self.page);
        let selected = self.selected_row().map(|row| &row.id.server);
        if let (Page::About, Some((server, words))) = (self.page, &self.sign_in)
            && selected == Some(server)
        {
            text = format!("sign-in    {words}\n{text}");
        }
        text
    }

    /// Whether the log of the selected server is shown; it changes without an event of the host.
    pub(super) fn shows_log(&self) -> bool {
        self.page == Page::Log
    }

    pub(super) fn cursor(&self) -> ScrollCursor {
        self.cursors.get(&self.page).copied().unwrap_or_default()
    }

    pub(super) fn cursor_mut(&mut self) -> &mut ScrollCursor {
        self.cursors.entry(self.page).or_default()
    }

    /// Applies the filter to the rows of the page.
    pub(super) fn find_rows(&mut self) {
        self.found = self.detail.find_rows(self.page, &self.detail_filter.to_lowercase());
        if self.page.is_list() {
            let len = self.found.len();
            self.cursor_mut().clamp_to(len);
        }
    }
}

#[cfg(test)]
mod tests;
