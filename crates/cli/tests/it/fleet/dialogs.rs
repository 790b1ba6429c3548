//! A real server that asks: forms and pages of server-everything, answered on a terminal.

use mcparley_testkit::{Key, TerminalSession};

use super::NAME;
use super::place::Place;
use super::servers::EVERYTHING;

fn place_on_terminal() -> Place {
    let mut place = Place::new();
    let (entry, _) = (EVERYTHING.entry)(&place);
    place.configure(NAME, &entry);
    place.world.set("TERM", "xterm");
    place
}

fn run(place: &Place, args: &[&str]) -> TerminalSession {
    TerminalSession::start_with_size(&place.world.command(args), 50, 100)
}

// X5 U4: the tool is offered only to clients that can ask their user; `tools` and `call` agree on a terminal.
#[test]
fn fleet_everything_fills_in_a_form_with_every_kind_of_field() {
    let place = place_on_terminal();
    let script = place.world.ok(&["tools", NAME]);
    assert!(!script.contains("trigger-elicitation-request"), "a script cannot be asked");
    let (code, screen) = run(&place, &["tools", NAME]).wait_for_exit();
    assert!(code == 0 && screen.contains("trigger-elicitation-request"), "{screen}");

    let mut session = run(&place, &["call", NAME, "trigger-elicitation-request"]);
    let screen = session.wait_for_text("Enter send");
    assert!(screen.contains("! Looks like a secret"), "a field speaks of a PIN:\n{screen}");
    session.type_text("Ada");
    session.press_keys(&[Key::Down, Key::Down, Key::Down]);
    session.wait_for_text("> String with email");
    session.type_text("ada");
    session.wait_for_text("! must be an email address");
    session.type_text("@example.com");
    session.wait_until_gone("! must be an email address");
    for _ in 0..6 {
        session.press_keys(&[Key::Down]);
    }
    session.wait_for_text("> Untitled Multiple Selec");
    session.press_keys(&[Key::Right]);
    session.type_text("  3");
    let screen = session.wait_for_text("[x] Violin");
    assert!(screen.contains("[x] Guitar  [ ] Piano"), "{screen}");
    session.press_keys(&[Key::Down, Key::Right, Key::Down]);
    session.type_text("12");
    session.wait_for_text("[ ] Tuna ›[x] Salmon");
    session.press_keys(&[Key::Enter]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    for part in ["ada@example.com", "hero-2", "fish-2", "Violin"] {
        assert!(screen.contains(part), "{part} is missing in\n{screen}");
    }
    assert!(!screen.contains("fish-1"), "{screen}");
}

// K3 X5: the error with a page, and a page that is asked for by request.
#[test]
fn fleet_everything_goes_on_after_its_pages() {
    let place = place_on_terminal();
    let call = ["call", NAME, "trigger-url-elicitation", "url=https://example.com/pay", "errorPath=true"];
    let mut session = run(&place, &call);
    session.wait_for_text("o open ·");
    session.type_text("d");
    session.wait_until("the second page", |screen| {
        screen.matches("wants you to open a page").count() == 2 && screen.contains("o open ·")
    });
    session.type_text("d");
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("accept") || screen.contains("completed"), "{screen}");
}

// N14 U4: screen, `tools` and `call` offer a server the same capabilities.
#[test]
fn fleet_everything_shows_tools_for_clients_with_dialogs_on_the_screen() {
    let place = place_on_terminal();
    let mut session = run(&place, &["mcp"]);
    session.wait_for_text("1 · 1 connected");
    session.press_keys(&[Key::Enter]);
    session.type_text("/trigger-elic");
    session.wait_for_text("trigger-elicitation-request");
}
