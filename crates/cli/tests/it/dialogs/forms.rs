//! Forms of servers, filled in on a terminal.

use mcparley_testkit::{Key, TerminalSession, processes_with_variable};
use serde_json::json;

use super::{old_server, run_on_terminal, world_on_terminal};
use crate::world::World;

/// Marks the processes of one test.
const MARK: &str = "MCPARLEY_DIALOG_TEST";

/// A server that asks for a form on each call, and answers with the reply.
fn world_with_form() -> World {
    let asks = old_server(&["server-request:elicitation/create"], &[]);
    world_on_terminal(&json!({ "one": asks }), &json!({}))
}

fn open_form(world: &World) -> TerminalSession {
    let session = run_on_terminal(world, &["call", "one", "echo", "message=hi"]);
    session.wait_for_text("Enter send");
    session
}

/// Ends the run, and returns the text that the server got as the reply.
fn reply(session: TerminalSession) -> String {
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    // The terminal wraps long lines.
    screen.replace('\n', "")
}

// X5 U4
#[test]
fn form_shows_fields_with_their_defaults_and_the_server_that_asks() {
    let world = world_with_form();
    let mut session = open_form(&world);
    let screen = session.screen_text();
    for line in [
        "┌ one asks",
        "│ Who are you?",
        "│ Answers go to: one",
        "> Name *  Ada",
        "  age     36",
        "  score   0.5",
        "  sure    (•) yes  ( ) no",
        "  colour  ( ) red  (•) green",
    ] {
        assert!(screen.contains(line), "{line:?} is missing in\n{screen}");
    }
    session.press_keys(&[Key::Enter]);
    let reply = reply(session);
    assert!(reply.contains(r#""action":"accept""#), "{reply}");
    assert!(reply.contains(r#""name":"Ada","age":36,"score":0.5,"sure":true,"colour":"green""#), "{reply}");
}

// X5
#[test]
fn wrong_value_is_explained_beside_its_field_and_can_be_corrected() {
    let world = world_with_form();
    let mut session = open_form(&world);
    session.type_text(" Lovelace");
    session.press_keys(&[Key::Down]);
    session.wait_for_text("a whole number, at least 0");
    session.press_keys(&[Key::Ctrl('u')]);
    session.type_text("x");
    session.wait_for_text("! must be a whole number");
    session.press_keys(&[Key::Backspace]);
    session.type_text("-1");
    session.wait_for_text("! must be at least 0");
    session.press_keys(&[Key::Enter, Key::Down]);
    session.wait_for_text("> score");
    session.press_keys(&[Key::Up]);
    session.wait_for_text("> age");
    session.press_keys(&[Key::Home]);
    session.press_keys(&[Key::Right, Key::Backspace]);
    session.wait_until_gone("! must be");
    session.press_keys(&[Key::Down, Key::Down]);
    session.type_text(" ");
    session.press_keys(&[Key::Down, Key::Left]);
    session.wait_for_text("(•) red");
    session.press_keys(&[Key::Enter]);
    let reply = reply(session);
    assert!(
        reply.contains(r#""name":"Ada Lovelace","age":1,"score":0.5,"sure":false,"colour":"red""#),
        "{reply}"
    );
}

// X5
#[test]
fn required_field_must_be_filled_in() {
    let world = world_with_form();
    let mut session = open_form(&world);
    session.press_keys(&[Key::Ctrl('u'), Key::Down, Key::Enter]);
    session.wait_for_text("! required");
    let screen = session.wait_for_text("> Name *");
    assert!(screen.contains("Enter send"), "it was not sent:\n{screen}");
    session.type_text("Grace");
    session.press_keys(&[Key::Enter]);
    let reply = reply(session);
    assert!(reply.contains(r#""name":"Grace""#), "{reply}");
}

// X5
#[test]
fn form_can_be_declined_and_the_call_goes_on() {
    let world = world_with_form();
    let mut session = open_form(&world);
    session.press_keys(&[Key::Escape]);
    session.wait_for_text("└ Declined");
    let reply = reply(session);
    assert!(reply.contains(r#""action":"decline""#), "{reply}");
}

// X5
#[test]
fn interrupt_in_a_form_cancels_the_call() {
    let world = world_with_form();
    let mut session = open_form(&world);
    session.press_keys(&[Key::Ctrl('c')]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("└ Canceled"), "{screen}");
}

// X5: a call that ends takes its question with it.
#[test]
fn question_of_a_server_that_is_gone_is_withdrawn() {
    let mark = format!("withdrawn-{}", std::process::id());
    let mut server = old_server(&["server-request:elicitation/create"], &[]);
    server["env"] = json!({ MARK: mark });
    let world = world_on_terminal(&json!({ "one": server }), &json!({}));
    let session = open_form(&world);
    for pid in processes_with_variable(MARK, &mark) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        // The guardian of the server may have ended it first.
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    session.wait_for_text("└ Withdrawn");
}

// X5 U4: without a terminal a server is not offered elicitation.
#[test]
fn script_is_not_asked() {
    let world = world_with_form();
    let done = world.mcparley(&["call", "one", "echo", "message=hi"]);
    assert!(!done.out.contains("accept"), "{done:?}");
}

// U4: the form is usable on a small terminal, where its fields scroll.
#[test]
fn form_scrolls_on_a_small_terminal() {
    let world = world_with_form();
    let command = world.command(&["call", "one", "echo", "message=hi"]);
    let mut session = TerminalSession::start_with_size(&command, 8, 40);
    session.wait_for_text("Enter send");
    session.press_keys(&[Key::Up]);
    let screen = session.wait_for_text("> colour");
    assert!(screen.contains("above"), "{screen}");
    session.press_keys(&[Key::Enter]);
    assert!(reply(session).contains("accept"));
}
