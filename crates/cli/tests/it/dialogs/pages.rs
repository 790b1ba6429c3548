//! Pages that servers and sign-ins want a person to visit.

use mcparley_testkit::{Key, TerminalSession};
use serde_json::json;

use super::{old_server, run_on_terminal, world_on_terminal};
use crate::world::World;

const URL: &str = "https://example.com/visit";

/// Calls a tool whose server asks for the page so many times; for ever without a number.
fn open_page(times: Option<&str>) -> (World, TerminalSession) {
    let options: Vec<(&str, &str)> = times.map(|times| ("--times", times)).into_iter().collect();
    let world = world_on_terminal(&json!({ "one": old_server(&["url-required"], &options) }), &json!({}));
    let session = run_on_terminal(&world, &["call", "one", "echo", "message=hi"]);
    session.wait_for_text("o open ·");
    (world, session)
}

// K3 X5: the first call answers -32042; after "done" it is repeated, and works.
#[test]
fn call_goes_on_after_the_page_is_done() {
    let (_world, mut session) = open_page(Some("1"));
    let screen = session.screen_text();
    for line in ["┌ one wants you to open a page", "│ Please visit this page.", URL, "│ Host: example.com"]
    {
        assert!(screen.contains(line), "{line:?} is missing in\n{screen}");
    }
    session.type_text("d");
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("└ Going on") && screen.contains("\nhi"), "{screen}");
}

// K3: a server that still asks is asked again once the person says that it is done.
#[test]
fn server_that_still_asks_waits_for_the_person() {
    let (_world, mut session) = open_page(None);
    session.type_text("d");
    session.wait_for_text("Waiting for the page at example.com");
    session.press_keys(&[Key::Ctrl('c')]);
    assert_eq!(session.wait_for_exit().0, 130);
}

// X5: nothing is opened without consent, and a browser that cannot be started is no dead end.
#[test]
fn page_without_a_browser_can_still_be_visited() {
    let (_world, mut session) = open_page(Some("1"));
    session.type_text("o");
    session.wait_for_text("open the page yourself");
    session.type_text("c");
    session.wait_for_text("Copied");
    session.type_text("d");
    assert_eq!(session.wait_for_exit().0, 0);
}

// X5 K3
#[test]
fn declined_page_ends_the_call() {
    let (_world, mut session) = open_page(None);
    session.press_keys(&[Key::Escape]);
    let (code, screen) = session.wait_for_exit();
    assert_ne!(code, 0, "{screen}");
    assert!(
        screen.contains("└ Declined") && screen.replace('\n', " ").contains("the user declined"),
        "{screen}"
    );
}
