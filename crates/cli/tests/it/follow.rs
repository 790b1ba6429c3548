//! `logs --follow`: lines that other processes write while it runs.

use mcparley_testkit::{Key, TerminalSession};
use serde_json::json;

use crate::serve::Served;
use crate::talk::{scripted, world};

// U2
#[test]
fn followed_logs_show_old_lines_and_then_new_ones_until_ctrl_c() {
    let world = world(&json!({ "one": scripted(&["logging"]), "two": scripted(&["exit-start"]) }));
    world.ok(&["call", "one", "echo", "message=hi"]);
    let mut session =
        TerminalSession::start_with_size(&world.command(&["logs", "-f", "--level", "alert"]), 40, 100);
    session.wait_for_text("a alert");
    world.mcparley(&["call", "two", "echo", "message=hi"]);
    session.wait_for_text("the server exited with code 3");
    session.press_keys(&[Key::Ctrl('c')]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 130, "{screen}");
    assert!(!screen.contains("error:"), "{screen}");
}

// U2 U3
#[test]
fn followed_logs_as_json_are_one_object_per_line() {
    let world = world(&json!({ "one": scripted(&["logging"]) }));
    world.ok(&["call", "one", "echo", "message=hi"]);
    let mut session = TerminalSession::start_with_size(
        &world.command(&["logs", "one", "-f", "-n", "1", "--json"]),
        40,
        300,
    );
    let screen = session.wait_for_text("unixMilliseconds");
    let line: serde_json::Value = serde_json::from_str(screen.lines().next().unwrap()).unwrap();
    assert_eq!(line["server"], "one");
    session.press_keys(&[Key::Ctrl('c')]);
    assert_eq!(session.wait_for_exit().0, 130);
}

// U2
#[test]
fn lines_of_a_server_that_still_runs_are_followed() {
    let world = world(&json!({ "one": scripted(&["logging"]) }));
    let session = TerminalSession::start_with_size(&world.command(&["logs", "-f"]), 40, 100);
    let mut served = Served::start(&world, &["--permission-mode", "bypassPermissions"]);
    served.call("one__pid");
    session.wait_for_text("a alert");
    assert!(served.child.try_wait().unwrap().is_none(), "the server still runs");
    drop(served.input);
    served.child.wait().unwrap();
}
