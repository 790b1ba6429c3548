//! Keys and answers of the permission dialog.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mcparley::PermissionAnswer;
use mcparley::model::tool::ToolHints;
use serde_json::json;

use super::{HERE, PermissionChoice, PermissionDialog, argument_lines, hint_labels};
use crate::dialog::key_reader::DialogInput;
use crate::dialog::session::{DialogModel as _, DialogSize};
use crate::dialog::styled_line::StyledLine;

fn dialog() -> PermissionDialog {
    let choices = vec![
        PermissionChoice::Once,
        PermissionChoice::AlwaysTool,
        PermissionChoice::AlwaysServer,
        PermissionChoice::Deny,
        PermissionChoice::DenyWithReason,
    ];
    PermissionDialog { server: "git".to_owned(), choices, selected: 0, reason: None }
}

fn press(dialog: &mut PermissionDialog, codes: &[KeyCode]) -> Option<PermissionAnswer> {
    let key = |code: &KeyCode| DialogInput::Key(KeyEvent::new(*code, KeyModifiers::NONE));
    codes.iter().map(key).find_map(|input| dialog.handle_input(&input))
}

fn denial(text: &str) -> Option<PermissionAnswer> {
    Some(PermissionAnswer::Deny(text.to_owned()))
}

// P6 U4
#[test]
fn keys_lead_to_their_answers() {
    use KeyCode::{Char, Down, Enter, Esc, Up};
    let cases = [
        (&[Enter][..], Some(PermissionAnswer::Allow)),
        (&[Char('1')], Some(PermissionAnswer::Allow)),
        (&[Char('2')], Some(PermissionAnswer::Always(HERE))),
        (&[Down, Enter], Some(PermissionAnswer::Always(HERE))),
        (&[Char('3')], Some(PermissionAnswer::AlwaysServer(HERE))),
        (&[Char('4')], denial("the user denied it")),
        (&[Esc], denial("the user denied it")),
        (&[Up, Enter, Char('n'), Char('o'), Enter], denial("the user denied it: no")),
        (&[Char('5'), Char('x'), Esc, Enter], None),
        (&[Char('0')], None),
        (&[Char('9')], None),
        (&[Char('q')], None),
    ];
    for (keys, answer) in cases {
        assert_eq!(press(&mut dialog(), keys), answer, "{keys:?}");
    }
}

// U4
#[test]
fn choices_are_numbered_and_the_selected_one_is_marked() {
    let mut dialog = dialog();
    press(&mut dialog, &[KeyCode::Down, KeyCode::Down]);
    let controls = dialog.controls(DialogSize { rows: 24, columns: 77 });
    let lines: Vec<String> = controls.lines.iter().map(StyledLine::text).collect();
    assert_eq!(
        lines,
        [
            "  1 Allow once",
            "  2 Always allow this tool here",
            "> 3 Always allow server git here",
            "  4 Deny",
            "  5 Deny and say why",
        ]
    );
}

// U4 B45
#[test]
fn arguments_are_shown_in_full_and_harmless() {
    let shown = |arguments| argument_lines(&arguments).iter().map(StyledLine::text).collect::<Vec<_>>();
    assert_eq!(shown(json!({})), ["no arguments"]);
    assert_eq!(
        shown(json!({ "message": "fix: \u{1b}[31m\nnext", "list": [1] })),
        [r#"message: "fix: \u001b[31m\nnext""#, "list: [", "    1", "  ]"]
    );
    let hints = ToolHints { read_only: false, destructive: true, idempotent: false, open_world: true };
    assert_eq!(hint_labels(hints), "  [destructive]  [open world]");
}
