//! The dialog that approves the configuration of a folder, item by item.

use crossterm::event::KeyCode;
use mcparley::model::approval::ApprovalItem;
use mcparley::model::text::display_line;

use super::key_reader::DialogInput;
use super::session::{DialogControls, DialogModel, DialogSize};
use super::styled_line::{StyledLine, Tone};

pub use mcparley::config::change::{
    ApprovalEntry, approval_entries, hook_fields, review_fields, server_entry,
};

/// The end of one round of the dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ApprovalAction {
    /// Approve the checked items.
    Approve,
    /// Print the whole item of this index.
    View(usize),
    Nothing,
}

/// The state of an approval.
#[derive(Debug)]
pub(super) struct ApprovalDialog<'e> {
    entries: &'e [ApprovalEntry],
    checked: Vec<bool>,
    focus: usize,
}

impl<'e> ApprovalDialog<'e> {
    /// Begins with all items checked or with none.
    pub(super) fn new(entries: &'e [ApprovalEntry], is_checked: bool) -> Self {
        Self { entries, checked: vec![is_checked; entries.len()], focus: 0 }
    }

    /// The checked items.
    pub(super) fn chosen_items(&self) -> Vec<ApprovalItem> {
        let chosen = self.entries.iter().zip(&self.checked).filter(|(_, is_checked)| **is_checked);
        chosen.map(|(entry, _)| entry.item.clone()).collect()
    }

    fn toggle_all(&mut self) {
        let is_all = self.checked.iter().all(|is_checked| *is_checked);
        self.checked.iter_mut().for_each(|is_checked| *is_checked = !is_all);
    }

    fn entry_lines(&self, at: usize, entry: &ApprovalEntry) -> Vec<StyledLine> {
        let is_focused = at == self.focus;
        let (marker, tone) = if is_focused { ("> ", Tone::Selected) } else { ("  ", Tone::Plain) };
        let is_checked = self.checked.get(at).is_some_and(|is_checked| *is_checked);
        let head = format!("{marker}[{}] {:<8} ", if is_checked { 'x' } else { ' ' }, entry.kind);
        let line = StyledLine::new(tone, head).with(Tone::Plain, display_line(&entry.summary));
        let mut lines = vec![line];
        if is_focused {
            lines.push(StyledLine::new(Tone::Dim, format!("      {}", display_line(&entry.origin))));
        }
        if let Some(runs) = &entry.runs {
            lines.push(StyledLine::new(Tone::Dim, format!("      would run: {}", display_line(runs))));
        }
        let cautions = entry.cautions.iter();
        lines.extend(
            cautions
                .map(|caution| StyledLine::new(Tone::Warning, format!("      ! {}", display_line(caution)))),
        );
        lines
    }
}

impl DialogModel for ApprovalDialog<'_> {
    type Answer = ApprovalAction;

    fn handle_input(&mut self, input: &DialogInput) -> Option<ApprovalAction> {
        let DialogInput::Key(key) = input else { return None };
        let count = self.entries.len().max(1);
        match key.code {
            KeyCode::Up | KeyCode::BackTab => self.focus = (self.focus + count - 1) % count,
            KeyCode::Down | KeyCode::Tab => self.focus = (self.focus + 1) % count,
            KeyCode::Char(' ') => {
                if let Some(is_checked) = self.checked.get_mut(self.focus) {
                    *is_checked = !*is_checked;
                }
            }
            KeyCode::Char('a' | 'A') => self.toggle_all(),
            KeyCode::Char('v' | 'V') => return Some(ApprovalAction::View(self.focus)),
            KeyCode::Enter => return Some(ApprovalAction::Approve),
            KeyCode::Esc => return Some(ApprovalAction::Nothing),
            _ => {}
        }
        None
    }

    fn controls(&self, size: DialogSize) -> DialogControls {
        let chosen = self.checked.iter().filter(|is_checked| **is_checked).count();
        let keys = format!("Space check · a all · v view whole · Enter approve {chosen} · Esc nothing");
        let room = size.rows.saturating_sub(3).max(3);
        let blocks: Vec<Vec<StyledLine>> =
            self.entries.iter().enumerate().map(|(at, entry)| self.entry_lines(at, entry)).collect();
        let mut first = self.focus;
        let mut rows = blocks.get(first).map_or(0, Vec::len);
        // Two rows say that there are items above and below.
        while let Some(above) = first.checked_sub(1).and_then(|at| blocks.get(at)) {
            rows += above.len();
            if rows + 2 > room {
                break;
            }
            first -= 1;
        }
        let mut lines = Vec::new();
        if first > 0 {
            lines.push(StyledLine::new(Tone::Dim, format!("… {first} above")));
        }
        lines.extend(blocks.into_iter().skip(first).flatten());
        if lines.len() > room {
            lines.truncate(room);
            lines.push(StyledLine::new(Tone::Dim, "… more below"));
        }
        DialogControls { lines, cursor: None, keys }
    }
}

#[cfg(test)]
mod tests;
