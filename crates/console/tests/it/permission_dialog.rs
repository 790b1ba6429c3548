//! Calls that a model wants to make: the person at the terminal allows or denies them.

use std::path::{Path, PathBuf};
use std::process::Command;

use mcparley_testkit::{Key, ScriptedStdio, TerminalSession};
use serde_json::{Value, json};
use tempfile::TempDir;

const ADD: [&str; 2] = ["mcp__one__add", r#"{"a":40,"b":2}"#];
const ECHO: [&str; 2] = ["mcp__one__echo", r#"{"message":"hi"}"#];

/// A home with one server, `one`, and a project in it.
struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(home.project()).unwrap();
        let server = ScriptedStdio::new(&[]);
        let entry = json!({ "command": server.program, "args": server.args });
        std::fs::write(
            home.root.path().join(".claude.json"),
            json!({ "mcpServers": { "one": entry } }).to_string(),
        )
        .unwrap();
        home
    }

    fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    fn call(&self, calls: &[[&str; 2]]) -> TerminalSession {
        let mut command = Command::new(example());
        command.args(calls.iter().flatten()).current_dir(self.project());
        command.env("HOME", self.root.path()).env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
        TerminalSession::start(&command)
    }

    /// The allow rules of the project.
    fn rules(&self) -> Value {
        let file = self.project().join(".claude/settings.local.json");
        let text = std::fs::read_to_string(file).unwrap_or_else(|_| "{}".to_owned());
        serde_json::from_str::<Value>(&text).unwrap()["permissions"]["allow"].clone()
    }
}

/// The example `ask_person`, which is built together with the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    target.join("examples/ask_person")
}

fn end(session: TerminalSession) -> String {
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    screen
}

// P6 U4
#[test]
fn always_allow_writes_a_rule_and_asks_no_more() {
    let home = Home::new();
    let mut session = home.call(&[ADD]);
    let screen = session.wait_for_text("Esc deny");
    assert!(screen.contains("Why asked: mode `default`, since no rule decides"), "{screen}");
    assert!(screen.contains("  3 Always allow server one here"), "{screen}");
    session.type_text("2");
    assert!(end(session).contains("answer: 42"));
    assert_eq!(home.rules(), json!(["mcp__one__add"]));
    assert_eq!(end(home.call(&[ADD])), "answer: 42", "the rule holds");
}

// P6 U4
#[test]
fn always_allow_of_the_server_holds_for_its_other_tools() {
    let home = Home::new();
    let mut session = home.call(&[ADD]);
    session.wait_for_text("Esc deny");
    session.press_keys(&[Key::Down, Key::Down, Key::Enter]);
    assert!(end(session).contains("answer: 42"));
    assert_eq!(home.rules(), json!(["mcp__one"]));
    assert_eq!(end(home.call(&[ECHO])), "answer: hi");
}

// U4
#[test]
fn one_question_is_asked_at_a_time_and_the_others_are_counted() {
    let home = Home::new();
    let mut session = home.call(&[ADD, ECHO]);
    session.wait_for_text("Esc deny");
    let screen = session.wait_for_text("1 more question waits");
    assert_eq!(screen.matches("┌ Permission").count(), 1, "{screen}");
    session.type_text("1");
    session.wait_until("the second question", |screen| screen.matches("┌ Permission").count() == 2);
    session.wait_until("its controls", |screen| screen.contains("Esc deny"));
    session.type_text("4");
    let screen = end(session);
    assert!(screen.contains("└ Allowed once") && screen.contains("└ Denied"), "{screen}");
}

// P6: the reason is given to the model.
#[test]
fn denial_with_a_reason_reaches_the_model() {
    let home = Home::new();
    let mut session = home.call(&[ADD]);
    session.wait_for_text("Esc deny");
    session.type_text("5");
    session.wait_for_text("Enter deny with this reason");
    session.enter_line("use the other one");
    let screen = end(session).replace('\n', "");
    assert!(screen.contains("the user denied it: use the other one"), "{screen}");
    assert_eq!(home.rules(), Value::Null);
}
