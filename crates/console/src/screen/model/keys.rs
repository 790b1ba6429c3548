//! Keys of the screen: each moves a cursor, changes the view, or becomes a command for the host.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::page::Page;
use super::super::popup::{Popup, PopupQuestion};
use super::super::row_state::RowState;
use super::{Focus, ScreenCommand, ScreenModel};

/// The longest filter.
const FILTER_CHARS: usize = 100;

impl ScreenModel {
    /// Handles a key, and returns the command that it gives.
    pub(in super::super) fn handle_key(&mut self, key: KeyEvent) -> Option<ScreenCommand> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Some(ScreenCommand::Quit),
                KeyCode::Char('n') => self.move_cursor(1),
                KeyCode::Char('p') => self.move_cursor(-1),
                _ => None,
            };
        }
        if self.popup.is_some() {
            return self.handle_popup_key(key.code);
        }
        if self.is_typing {
            return self.handle_filter_key(key.code);
        }
        self.handle_view_key(key.code).or_else(|| self.handle_command_key(key.code))
    }

    /// Handles the keys that move and that change the view.
    fn handle_view_key(&mut self, code: KeyCode) -> Option<ScreenCommand> {
        let screen = self.page_height.max(1).cast_signed();
        match code {
            KeyCode::Down | KeyCode::Char('j') => self.move_cursor(1),
            KeyCode::Up | KeyCode::Char('k') => self.move_cursor(-1),
            KeyCode::PageDown => self.move_cursor(screen),
            KeyCode::PageUp => self.move_cursor(-screen),
            KeyCode::Home => self.move_cursor(isize::MIN),
            KeyCode::End => self.move_cursor(isize::MAX),
            KeyCode::Right | KeyCode::Tab => self.turn_page(1),
            KeyCode::Left | KeyCode::BackTab => self.turn_page(-1),
            KeyCode::Enter => self.open_selection(),
            KeyCode::Esc | KeyCode::Char('q') => self.go_back(code),
            KeyCode::Char('?') => {
                self.popup = Some(Popup::help());
                None
            }
            KeyCode::Char('/') => {
                self.is_typing = true;
                None
            }
            KeyCode::Char('s') => {
                self.list.sort_by_next_key();
                None
            }
            _ => None,
        }
    }

    /// Handles the keys that change a server or a tool.
    fn handle_command_key(&mut self, code: KeyCode) -> Option<ScreenCommand> {
        let row = self.selected_row()?;
        let server = row.id.server.clone();
        match code {
            KeyCode::Char('e') => match self.tool_under_cursor() {
                Some(command) => Some(command),
                None => self.switch_server(),
            },
            KeyCode::Char('r') => match &row.state {
                RowState::Disabled { .. } => self.refuse_key("is disabled; press e to enable it"),
                RowState::NeedsApproval { .. } | RowState::Rejected { .. } => {
                    self.refuse_key("is not approved; press a to look at it")
                }
                RowState::Unusable { .. } => self.refuse_key("cannot run; the page Errors says why"),
                RowState::Connected
                | RowState::Connecting { .. }
                | RowState::Reconnecting { .. }
                | RowState::OnDemand
                | RowState::Failed { .. }
                | RowState::NeedsSignIn => Some(ScreenCommand::Reconnect(server)),
            },
            KeyCode::Char('l') => Some(ScreenCommand::SignIn(server)),
            KeyCode::Char('a') => match &row.state {
                RowState::NeedsApproval { .. } | RowState::Rejected { .. } => {
                    Some(ScreenCommand::ShowApproval(row.id.clone()))
                }
                _ => self.refuse_key("needs no approval"),
            },
            _ => None,
        }
    }

    fn handle_popup_key(&mut self, code: KeyCode) -> Option<ScreenCommand> {
        let screen = self.page_height.max(1).cast_signed();
        let popup = self.popup.as_mut()?;
        let mut scroll = |delta| popup.scroll.move_by(delta, usize::MAX);
        match (code, &popup.question) {
            (KeyCode::Down | KeyCode::Char('j'), _) => scroll(1),
            (KeyCode::Up | KeyCode::Char('k'), _) => scroll(-1),
            (KeyCode::PageDown | KeyCode::Char(' '), _) => scroll(screen),
            (KeyCode::PageUp, _) => scroll(-screen),
            (KeyCode::Home, _) => scroll(isize::MIN),
            (KeyCode::End, _) => scroll(isize::MAX),
            (KeyCode::Char('y'), PopupQuestion::Approve { server, definition }) => {
                let command =
                    ScreenCommand::Approve { server: server.clone(), definition: definition.clone() };
                self.popup = None;
                return Some(command);
            }
            (KeyCode::Char('o'), PopupQuestion::SignIn { server, page: Some(page) }) => {
                return Some(ScreenCommand::OpenPage { server: server.clone(), page: page.clone() });
            }
            (KeyCode::Char('c'), PopupQuestion::SignIn { page: Some(page), .. }) => {
                return Some(ScreenCommand::CopyPage(page.clone()));
            }
            // A hasty Enter must not answer a question.
            (KeyCode::Enter, PopupQuestion::Approve { .. }) => {}
            (KeyCode::Esc | KeyCode::Char('q' | 'n' | '?') | KeyCode::Enter, _) => self.popup = None,
            _ => {}
        }
        None
    }

    fn handle_filter_key(&mut self, code: KeyCode) -> Option<ScreenCommand> {
        let mut filter = self.filter().to_owned();
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                filter.clear();
            }
            KeyCode::Backspace => {
                filter.pop();
            }
            KeyCode::Char(character) if filter.chars().count() < FILTER_CHARS => filter.push(character),
            KeyCode::Down => return self.move_cursor(1),
            KeyCode::Up => return self.move_cursor(-1),
            _ => {}
        }
        self.set_filter(&filter)
    }

    /// The filter of the pane in focus.
    pub(in super::super) fn filter(&self) -> &str {
        match self.focus {
            Focus::Servers => self.list.filter(),
            Focus::Detail => &self.detail_filter,
        }
    }

    fn set_filter(&mut self, filter: &str) -> Option<ScreenCommand> {
        match self.focus {
            Focus::Servers => {
                let before = self.selected_row().map(|row| row.id.clone());
                self.list.set_filter(filter);
                (self.selected_row().map(|row| &row.id) != before.as_ref()).then(|| self.show_other_server())
            }
            Focus::Detail => {
                filter.clone_into(&mut self.detail_filter);
                self.find_rows();
                None
            }
        }
    }

    fn move_cursor(&mut self, delta: isize) -> Option<ScreenCommand> {
        match self.focus {
            Focus::Servers => {
                let (before, len) = (self.list.cursor.index, self.list.len());
                self.list.cursor.move_by(delta, len);
                (self.list.cursor.index != before).then(|| self.show_other_server())
            }
            Focus::Detail => {
                let len = if self.page.is_list() { self.found.len() } else { usize::MAX };
                self.cursor_mut().move_by(delta, len);
                None
            }
        }
    }

    /// Begins at the top of each page, since the selected server is another.
    fn show_other_server(&mut self) -> ScreenCommand {
        self.cursors.clear();
        self.detail_filter.clear();
        ScreenCommand::ReadDetail
    }

    fn turn_page(&mut self, steps: isize) -> Option<ScreenCommand> {
        self.page = self.page.step(steps);
        self.detail_filter.clear();
        self.find_rows();
        if self.page == Page::Log && self.cursor().index == 0 {
            let last = self.found.len().saturating_sub(1);
            self.cursor_mut().move_to(last);
        }
        None
    }

    /// Moves the focus to the detail, or opens the row under its cursor.
    fn open_selection(&mut self) -> Option<ScreenCommand> {
        match self.focus {
            Focus::Servers if self.selected_row().is_some() => self.focus = Focus::Detail,
            Focus::Servers => {}
            Focus::Detail => {
                let row = self.found.get(self.cursor().index).copied();
                self.popup = row.and_then(|row| self.detail.popup(self.page, row));
            }
        }
        None
    }

    /// Goes one step back: removes the filter, leaves the detail, leaves the screen.
    fn go_back(&mut self, code: KeyCode) -> Option<ScreenCommand> {
        if code == KeyCode::Esc && !self.filter().is_empty() {
            return self.set_filter("");
        }
        match self.focus {
            Focus::Detail => {
                self.focus = Focus::Servers;
                None
            }
            Focus::Servers => Some(ScreenCommand::Quit),
        }
    }

    /// The command that switches the tool under the cursor, if one is.
    fn tool_under_cursor(&self) -> Option<ScreenCommand> {
        let is_on_tool = self.focus == Focus::Detail && self.page == Page::Tools;
        let index = self.found.get(self.cursor().index).filter(|_| is_on_tool)?;
        let (row, tool) = (self.selected_row()?, self.detail.tools().get(*index)?);
        let on = !self.detail.tools.is_enabled(tool);
        Some(ScreenCommand::SwitchTool { server: row.id.server.clone(), tool: tool.name.clone(), on })
    }

    fn switch_server(&mut self) -> Option<ScreenCommand> {
        let row = self.selected_row()?;
        let on = match &row.state {
            RowState::Disabled { .. } => true,
            RowState::NeedsApproval { .. } | RowState::Rejected { .. } => {
                return self.refuse_key("is not approved; press a to look at it");
            }
            RowState::Unusable { .. } => return self.refuse_key("cannot run; the page Errors says why"),
            RowState::Connected
            | RowState::Connecting { .. }
            | RowState::Reconnecting { .. }
            | RowState::OnDemand
            | RowState::Failed { .. }
            | RowState::NeedsSignIn => false,
        };
        let (server, is_configured) = (row.id.server.clone(), row.is_configured);
        Some(ScreenCommand::SwitchServer { server, on, is_configured })
    }

    /// Says why a key does nothing.
    fn refuse_key(&mut self, reason: &str) -> Option<ScreenCommand> {
        self.message = self.selected_row().map(|row| format!("{} {reason}", row.name));
        None
    }
}

#[cfg(test)]
mod tests;
