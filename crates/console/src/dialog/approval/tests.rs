//! Keys of the approval dialog.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mcparley::model::approval::ApprovalItem;

use super::{ApprovalAction, ApprovalDialog, ApprovalEntry};
use crate::dialog::key_reader::DialogInput;
use crate::dialog::session::{DialogModel as _, DialogSize};
use crate::dialog::styled_line::StyledLine;

fn entries(count: usize) -> Vec<ApprovalEntry> {
    let entry = |at: usize| ApprovalEntry {
        item: ApprovalItem::for_rule(&format!("mcp__{at}")),
        kind: "allow",
        summary: format!("mcp__{at}"),
        runs: None,
        origin: format!("settings.json:{at}"),
        fields: Vec::new(),
        cautions: Vec::new(),
    };
    (0..count).map(entry).collect()
}

fn press(dialog: &mut ApprovalDialog<'_>, codes: &[KeyCode]) -> Option<ApprovalAction> {
    let key = |code: &KeyCode| DialogInput::Key(KeyEvent::new(*code, KeyModifiers::NONE));
    codes.iter().map(key).find_map(|input| dialog.handle_input(&input))
}

// C17
#[test]
fn only_checked_items_are_approved() {
    use KeyCode::{Char, Down, Enter, Esc};
    let entries = entries(3);
    let names = |dialog: &ApprovalDialog<'_>| -> Vec<String> {
        dialog.chosen_items().into_iter().map(|item| item.name).collect()
    };
    let all: Vec<String> = entries.iter().map(|entry| entry.item.name.clone()).collect();
    let mut dialog = ApprovalDialog::new(&entries, false);
    assert_eq!(press(&mut dialog, &[Char(' '), Down, Down, Char(' '), Enter]), Some(ApprovalAction::Approve));
    assert_eq!(dialog.chosen_items(), [entries[0].item.clone(), entries[2].item.clone()]);
    press(&mut dialog, &[Char('a')]);
    assert_eq!(names(&dialog), all, "the others are checked too");
    press(&mut dialog, &[Char('a')]);
    assert!(dialog.chosen_items().is_empty());
    assert_eq!(press(&mut dialog, &[Char('v')]), Some(ApprovalAction::View(2)));
    assert_eq!(press(&mut dialog, &[Esc]), Some(ApprovalAction::Nothing));
}

// C17 U4
#[test]
fn item_in_focus_is_visible_among_many() {
    let entries = entries(50);
    let mut dialog = ApprovalDialog::new(&entries, false);
    for _ in 0..40 {
        press(&mut dialog, &[KeyCode::Down]);
    }
    let size = DialogSize { rows: 23, columns: 77 };
    let lines: Vec<String> = dialog.controls(size).lines.iter().map(StyledLine::text).collect();
    assert!(lines.len() < size.rows, "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("> [ ] allow    mcp__40")), "{lines:?}");
}
