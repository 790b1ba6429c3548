//! Keys and the commands they give.

use std::sync::Arc;

use mcparley::model::name::{ServerName, ToolName};

use super::super::super::server_detail::tests::detail_with_tools;
use super::super::super::server_row::ServerRow;
use super::super::super::server_row::tests::connected_row;
use super::*;

/// A model of the servers `files`, `git` and `jira`, the first selected, with two tools.
fn model() -> ScreenModel {
    let failed = RowState::Failed { reason: "gone".to_owned() };
    let mut model = ScreenModel::default();
    let jira = ServerRow { state: failed, ..connected_row("jira") };
    model.list.set_rows(vec![connected_row("files"), connected_row("git"), jira]);
    model.set_detail(detail_with_tools(&["read", "write"]));
    model
}

fn press(model: &mut ScreenModel, code: KeyCode) -> Option<ScreenCommand> {
    model.handle_key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn type_word(model: &mut ScreenModel, word: &str) {
    for character in word.chars() {
        press(model, KeyCode::Char(character));
    }
}

// U4
#[test]
fn arrows_and_letters_move_and_read_the_detail_of_the_other_server() {
    let mut model = model();
    assert_eq!(press(&mut model, KeyCode::Down), Some(ScreenCommand::ReadDetail));
    assert_eq!(press(&mut model, KeyCode::Char('j')), Some(ScreenCommand::ReadDetail));
    assert_eq!(model.selected_row().unwrap().name, "jira");
    assert_eq!(press(&mut model, KeyCode::Down), None);
    assert_eq!(press(&mut model, KeyCode::Char('k')), Some(ScreenCommand::ReadDetail));
    assert_eq!(press(&mut model, KeyCode::Home), Some(ScreenCommand::ReadDetail));
    assert_eq!(model.selected_row().unwrap().name, "files");
}

// U4
#[test]
fn pages_turn_around_in_both_directions() {
    let mut model = model();
    press(&mut model, KeyCode::Left);
    assert_eq!(model.page, Page::About);
    press(&mut model, KeyCode::Tab);
    assert_eq!(model.page, Page::Tools);
    press(&mut model, KeyCode::Right);
    assert_eq!(model.page, Page::Resources);
}

// U4
#[test]
fn e_switches_the_server_or_the_tool_under_the_cursor() {
    let mut model = model();
    let server = ServerName::new("files");
    let off = ScreenCommand::SwitchServer { server: server.clone(), on: false, is_configured: true };
    assert_eq!(press(&mut model, KeyCode::Char('e')), Some(off));
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Down);
    let tool = ToolName::new("write");
    let switched = ScreenCommand::SwitchTool { server, tool, on: false };
    assert_eq!(press(&mut model, KeyCode::Char('e')), Some(switched));
}

// U4
#[test]
fn disabled_server_is_enabled_and_not_reconnected() {
    let mut model = model();
    let state = RowState::Disabled { reason: None };
    model.list.set_rows(vec![ServerRow { state, ..connected_row("files") }]);
    let on = ScreenCommand::SwitchServer { server: ServerName::new("files"), on: true, is_configured: true };
    assert_eq!(press(&mut model, KeyCode::Char('e')), Some(on));
    assert_eq!(press(&mut model, KeyCode::Char('r')), None);
    assert_eq!(model.message.as_deref(), Some("files is disabled; press e to enable it"));
}

// U4 C17
#[test]
fn approval_is_shown_first_and_given_only_by_y() {
    let mut model = model();
    let state = RowState::NeedsApproval { reason: "new".to_owned() };
    let row = ServerRow { state, ..connected_row("files") };
    model.list.set_rows(vec![row.clone()]);
    assert_eq!(press(&mut model, KeyCode::Char('a')), Some(ScreenCommand::ShowApproval(row.id)));
    let server = ServerName::new("files");
    let question = PopupQuestion::Approve { server: server.clone(), definition: "d1".to_owned() };
    model.popup = Some(Popup::asking(question.clone(), "Approve files?", "command: x"));
    assert_eq!(press(&mut model, KeyCode::Enter), None);
    assert!(model.popup.is_some());
    assert_eq!(press(&mut model, KeyCode::Esc), None);
    assert!(model.popup.is_none());
    model.popup = Some(Popup::asking(question, "Approve files?", "command: x"));
    let approved = ScreenCommand::Approve { server, definition: "d1".to_owned() };
    assert_eq!(press(&mut model, KeyCode::Char('y')), Some(approved));
}

// U4
#[test]
fn filter_is_typed_kept_by_enter_and_removed_by_escape() {
    let mut model = model();
    press(&mut model, KeyCode::Char('/'));
    type_word(&mut model, "jq");
    press(&mut model, KeyCode::Backspace);
    assert_eq!((model.filter(), model.list.len()), ("j", 1));
    press(&mut model, KeyCode::Enter);
    assert!(!model.is_typing);
    assert_eq!(press(&mut model, KeyCode::Esc), None);
    assert_eq!(model.list.len(), 3);
    assert_eq!(press(&mut model, KeyCode::Esc), Some(ScreenCommand::Quit));
}

// U4
#[test]
fn q_goes_back_step_by_step_and_leaves_at_the_list() {
    let mut model = model();
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Enter);
    assert!(model.popup.as_ref().is_some_and(|popup| popup.title == "read()"));
    assert_eq!(press(&mut model, KeyCode::Char('q')), None);
    assert_eq!(press(&mut model, KeyCode::Char('q')), None);
    assert_eq!(press(&mut model, KeyCode::Char('q')), Some(ScreenCommand::Quit));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(model.handle_key(interrupt), Some(ScreenCommand::Quit));
}

// U4
#[test]
fn tools_are_filtered_in_the_detail_without_touching_the_servers() {
    let mut model = model();
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Char('/'));
    type_word(&mut model, "wri");
    assert_eq!((model.found.as_slice(), model.list.len()), ([1].as_slice(), 3));
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Enter);
    assert!(model.popup.as_ref().is_some_and(|popup| popup.title == "write()"));
    assert_eq!(Arc::strong_count(&model.detail.lists), 1);
}

// U4 A8
#[test]
fn page_of_a_sign_in_is_opened_or_copied_and_its_popup_stays() {
    let mut model = model();
    let (server, page) = (ServerName::new("git"), "https://login.example/page".to_owned());
    let question = PopupQuestion::SignIn { server: server.clone(), page: Some(page.clone()) };
    model.popup = Some(Popup::asking(question, "Sign in to git", "Open this page"));
    assert_eq!(press(&mut model, KeyCode::Char('c')), Some(ScreenCommand::CopyPage(page.clone())));
    assert_eq!(press(&mut model, KeyCode::Char('o')), Some(ScreenCommand::OpenPage { server, page }));
    assert!(model.popup.is_some());
}
