//! Questions of servers: forms with every kind of field, and pages; and sign-in.

use mcparley_testkit::{AuthServer, Key, TmuxSession};
use serde_json::json;

use super::{run, unwrapped};
use crate::fleet::place::Place;
use crate::fleet::servers::EVERYTHING;
use crate::sign_in::person;
use crate::world::World;

fn call_everything(args: &[&str]) -> (Place, TmuxSession) {
    let place = Place::new();
    let (entry, _) = (EVERYTHING.entry)(&place);
    place.configure("one", &entry);
    let session = run(&place.world, &[&["call", "one"], args].concat());
    (place, session)
}

// X5 U4: text, choices of one and of several, sent to a real server.
#[test]
fn tmux_form_is_filled_in_and_sent() {
    let (_place, session) = call_everything(&["trigger-elicitation-request"]);
    session.wait_for_text("Enter send");
    session.type_text("Ada");
    session.press_keys(&[Key::Up]);
    session.wait_for_text("> Legacy Titled Single Se");
    session.press_keys(&[Key::Right, Key::Up]);
    session.type_text("12");
    session.wait_for_text("[x] Salmon");
    session.press_keys(&[Key::Enter]);
    let (code, pane) = session.wait_for_exit();
    assert_eq!(code, 0, "{pane}");
    assert!(unwrapped(&pane).contains("fish-2") && !unwrapped(&pane).contains("fish-1"), "{pane}");
}

// X5
#[test]
fn tmux_form_is_declined_or_canceled() {
    let (_place, session) = call_everything(&["trigger-elicitation-request"]);
    session.wait_for_text("Enter send");
    session.press_keys(&[Key::Escape]);
    let (code, pane) = session.wait_for_exit();
    assert!(code == 0 && pane.contains("└ Declined"), "{pane}");

    let (_place, session) = call_everything(&["trigger-elicitation-request"]);
    session.wait_for_text("Enter send");
    session.press_keys(&[Key::Ctrl('c')]);
    let (code, pane) = session.wait_for_exit();
    assert!(code == 130 && pane.contains("└ Canceled"), "{pane}");
}

// K3 X5
#[test]
fn tmux_page_is_done_or_declined() {
    let url = ["trigger-url-elicitation", "url=https://example.com/pay"];
    let (_place, session) = call_everything(&url);
    let pane = session.wait_for_text("o open ·");
    assert!(pane.contains("Host: example.com"), "{pane}");
    session.type_text("d");
    let (code, pane) = session.wait_for_exit();
    assert!(code == 0 && pane.contains("└ Going on"), "{pane}");

    let (_place, session) = call_everything(&url);
    session.wait_for_text("o open ·");
    session.press_keys(&[Key::Escape]);
    let (_, pane) = session.wait_for_exit();
    assert!(pane.contains("└ Declined"), "{pane}");
}

fn world_with_sign_in(authority: &AuthServer) -> World {
    let world = person::world();
    let servers = json!({ "mcpServers": { "one": { "type": "http", "url": authority.url() } } });
    world.write("home/.claude.json", &servers.to_string());
    world
}

// A1 U4
#[test]
fn tmux_sign_in_is_offered_on_the_screen_and_connects() {
    let authority = AuthServer::start(&[]);
    let world = world_with_sign_in(&authority);
    let session = run(&world, &["mcp"]);
    session.wait_for_text("needs sign-in");
    session.type_text("l");
    session.wait_for_text("Open this page in a browser");
    session.press_keys(&[Key::Escape]);
    session.wait_until("no page", |pane| !pane.contains("Open this page in a browser"));
    assert!(person::windows(&world).is_empty(), "no page is opened without consent");
    session.type_text("l");
    session.wait_for_text("Open this page in a browser");
    session.type_text("o");
    session.wait_for_text("1 · 1 connected");
    assert_eq!(person::windows(&world).len(), 1);
}
