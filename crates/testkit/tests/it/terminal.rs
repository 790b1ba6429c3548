//! The terminal that tests run programs on.

use std::process::Command;

use mcparley_testkit::{Key, TerminalSession};

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color");
    command
}

#[test]
fn terminal_shows_output_and_passes_keys_on() {
    let mut session =
        TerminalSession::start(&shell("printf 'name? '; read name; echo \"hello $name\"; exit 3"));
    session.wait_for_text("name?");
    session.enter_line("world");
    session.wait_for_text("hello world");
    assert_eq!(session.wait_for_exit().0, 3);
}

#[test]
fn control_c_interrupts_the_program() {
    let mut session = TerminalSession::start(&shell("trap 'echo caught; exit 7' INT; echo ready; read x"));
    session.wait_for_text("ready");
    session.press_keys(&[Key::Ctrl('c')]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!((code, screen.contains("caught")), (7, true), "{screen}");
}

#[test]
fn resized_terminal_has_the_new_size() {
    let mut session = TerminalSession::start(&shell("stty size; read x; stty size; read x"));
    session.wait_for_text("24 80");
    session.resize(40, 100);
    session.enter_line("");
    session.wait_for_text("40 100");
}

#[test]
fn picture_has_text_colors_and_escaped_signs() {
    let session = TerminalSession::start(&shell("printf '\\033[1;31ma<b\\033[0m plain'; read x"));
    session.wait_for_text("plain");
    let picture = session.screen_picture();
    assert!(picture.contains("font-weight=\"bold\">a&lt;b</text>"), "{picture}");
    assert!(picture.contains("> plain</text>"), "{picture}");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{picture}");
}
