//! Signing in at a terminal: what a person sees and types.

use mcparley_testkit::{AuthServer, Key, STATIC_CLIENT, STATIC_SECRET, TerminalSession};
use serde_json::Value;

use super::person::{health, last_address, windows, world, world_with};
use crate::terminal;

/// The page that is shown, once it is.
fn page(shown: &str) -> Option<String> {
    let line = shown.lines().find(|line| line.trim_start().starts_with("http"))?;
    shown.contains("paste its URL").then(|| line.trim().to_owned())
}

// A8: a browser is opened, and the address is there for one elsewhere.
#[test]
fn at_a_terminal_the_page_is_opened_and_shown() {
    let server = AuthServer::start(&[]);
    let world = world_with(server.url());
    let (code, shown) = terminal::talk(&mut world.command(&["login", "one"]), |_| None);
    assert_eq!(code, 0, "{shown}");
    let page = &windows(&world)[0];
    for part in ["your browser was opened at:", page, "paste its URL here:", "signed in, connected ("] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (code, shown) = terminal::talk(&mut world.command(&["login"]), |_| None);
    assert!(code == 0 && shown.contains("no sign-in needed"), "{shown}");
}

// A5 A8 X5: on a terminal that can show dialogs the page is opened when its person says so.
#[test]
fn at_a_terminal_the_page_is_opened_on_request() {
    let server = AuthServer::start(&[]);
    let mut world = world_with(server.url());
    world.set("TERM", "xterm");
    let mut session = TerminalSession::start(&world.command(&["login", "one"]));
    let screen = session.wait_for_text("o open ·");
    assert!(screen.contains("┌ Sign in to ") && screen.contains("│ Host: 127.0.0.1"), "{screen}");
    assert!(windows(&world).is_empty(), "nothing is opened before");
    session.type_text("o");
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("└ Opened in your browser") && screen.contains("signed in, connected ("),
        "{screen}"
    );
    assert_eq!(windows(&world).len(), 1);
}

// A5 A8
#[test]
fn at_a_terminal_a_declined_page_is_not_opened() {
    let server = AuthServer::start(&[]);
    let mut world = world_with(server.url());
    world.set("TERM", "xterm");
    let mut session = TerminalSession::start(&world.command(&["login", "one"]));
    session.wait_for_text("o open ·");
    session.press_keys(&[Key::Escape]);
    let (code, screen) = session.wait_for_exit();
    assert_ne!(code, 0, "{screen}");
    assert!(screen.contains("└ Declined"), "{screen}");
    assert!(windows(&world).is_empty());
}

// A5 U4: a call on a terminal offers the sign-in that its server needs, and goes on.
#[test]
fn at_a_terminal_a_call_goes_on_after_the_sign_in() {
    let commands = [
        &["call", "one", "echo", "message=hi"][..],
        &["call", "mcp__one__echo", "message=hi"],
        &["call", "mcp__one__authenticate"],
    ];
    for words in commands {
        let server = AuthServer::start(&[]);
        let mut world = world_with(server.url());
        world.set("TERM", "xterm");
        let mut session = TerminalSession::start(&world.command(words));
        session.wait_for_text("o open ·");
        session.type_text("o");
        let (code, screen) = session.wait_for_exit();
        assert_eq!(code, 0, "{screen}");
        let answer = if words.contains(&"message=hi") { "\nhi" } else { "\nSigned in to `one`" };
        assert!(screen.contains(answer), "{screen}");
        assert_eq!(health(&world, "one"), "connected");
    }
}

// A8: the browser is on another machine.
#[test]
fn at_a_terminal_the_last_address_can_be_pasted() {
    let server = AuthServer::start(&[]);
    let mut world = world_with(server.url());
    world.set("BROWSER", "/bin/false");
    let paste = |shown: &str| Some(last_address(&Value::from(page(shown)?)));
    let (code, shown) = terminal::talk(&mut world.command(&["login", "one"]), paste);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("cannot start a browser"), "{shown}");
    assert_eq!(health(&world, "one"), "connected");
}

// U1 B62: what is typed is not shown.
#[test]
fn at_a_terminal_a_secret_is_typed_unseen() {
    let server = AuthServer::start(&[]);
    let world = world();
    let args = ["add", "-s", "user", "one", server.url(), "--client-id", STATIC_CLIENT, "--client-secret"];
    let mut command = world.command(&[&args[..], &["--grant", "client_credentials"]].concat());
    let secret = |shown: &str| shown.contains("not shown while you type").then(|| STATIC_SECRET.to_owned());
    let (code, shown) = terminal::talk(&mut command, secret);
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(STATIC_SECRET) && shown.contains("Stored the client secret"), "{shown}");
    assert_eq!(health(&world, "one"), "connected");
}
