//! Keys of the page dialog, and the marked host of a URL.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{PageAction, PageDialog, url_line};
use crate::dialog::key_reader::DialogInput;
use crate::dialog::session::DialogModel as _;

// X5 K3
#[test]
fn only_the_named_keys_decide_about_a_page() {
    let press =
        |code| PageDialog::default().handle_input(&DialogInput::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    assert_eq!(press(KeyCode::Char('o')), Some(PageAction::Open));
    assert_eq!(press(KeyCode::Char('c')), Some(PageAction::Copy));
    assert_eq!(press(KeyCode::Char('d')), Some(PageAction::Done));
    assert_eq!(press(KeyCode::Esc), Some(PageAction::Decline));
    for code in [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Char('y')] {
        assert_eq!(press(code), None, "{code:?} opens nothing by accident");
    }
}

// X5
#[test]
fn host_is_marked_at_its_place_in_the_whole_url() {
    let line = url_line("https://evil.example/good.example?x=1", "evil.example");
    assert_eq!(line.text(), "https://evil.example/good.example?x=1");
    assert_eq!(line.render(true), "https://\u{1b}[1mevil.example\u{1b}[0m/good.example?x=1");
}
