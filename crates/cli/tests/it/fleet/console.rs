//! The console with a scripted model over server-everything: a question with a tool call, and sampling.

use mcparley_testkit::{Key, ModelServer, TerminalSession};
use serde_json::{Value, json};

use super::place::Place;
use super::servers::EVERYTHING;
use crate::ask::use_anthropic;
use crate::console::{enter, open, wait_for_prompt};

fn open_everything(turns: &Value) -> (Place, ModelServer, TerminalSession) {
    let mut place = Place::new();
    let (entry, _) = (EVERYTHING.entry)(&place);
    place.configure("everything", &entry);
    let model = ModelServer::start(turns);
    use_anthropic(&mut place.world, &model);
    let session = open(&mut place.world);
    (place, model, session)
}

fn sum() -> Value {
    json!({ "name": "mcp__everything__get-sum", "arguments": { "a": 40, "b": 2 } })
}

// U4 P1
#[test]
fn fleet_everything_call_of_the_model_is_asked_about_and_its_answer_streams() {
    let turns = json!([
        { "text": "I add them.", "calls": [sum()] },
        { "text": "They make 42.", "expect": ["The sum of 40 and 2 is 42."] },
    ]);
    let (place, model, mut session) = open_everything(&turns);
    assert!(session.screen_text().contains("model: anthropic:"), "{}", session.screen_text());
    let screen = enter(&mut session, "how much is 40 and 2?", "Esc deny");
    assert!(screen.contains("I add them.\n"), "the text stays above the dialog:\n{screen}");
    session.type_text("1");
    session.wait_for_text("They make 42.");
    let screen = wait_for_prompt(&session);
    let line = screen.lines().find(|line| line.starts_with("● everything.get-sum(a=40, b=2)  ")).unwrap();
    assert!(line.trim_end().ends_with(" s"), "the duration: {line}");
    assert!(enter(&mut session, "/calls", "\neverything.get-sum ").contains("  ok"));
    wait_for_prompt(&session);
    enter(&mut session, "/last", "\nThe sum of 40 and 2 is 42.");
    assert_eq!(model.requests().len(), 2);
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('d')]);
    assert_eq!(session.wait_for_exit().0, 0);
    assert_eq!(place.processes(), Vec::<u32>::new(), "nothing is left running");
}

// U4 P1
#[test]
fn fleet_everything_denial_and_its_reason_reach_the_model() {
    let turns = json!([{ "calls": [sum()] }, { "text": "Then not.", "expect": ["sums are secret"] }]);
    let (_place, _model, mut session) = open_everything(&turns);
    enter(&mut session, "how much is 40 and 2?", "Esc deny");
    session.type_text("5");
    session.wait_for_text("Enter deny with this reason");
    session.type_text("sums are secret");
    session.wait_for_text("sums are secret");
    session.press_keys(&[Key::Enter]);
    let screen = session.wait_for_text("Then not.");
    assert!(screen.contains(" ▸ denied: "), "{screen}");
}

// U4 X6: the person decides whether a server may use the model.
#[test]
fn fleet_everything_samples_from_the_model_after_the_person_agreed() {
    let turns = json!([{ "text": "Paris, said the model.", "expect": ["capital of France"] }]);
    let (_place, model, mut session) = open_everything(&turns);
    let call = "everything.trigger-sampling-request prompt=\"capital of France\"";
    let screen = enter(&mut session, call, "y send it to the model");
    assert!(screen.contains("everything asks the model"), "{screen}");
    session.type_text("n");
    session.wait_for_text("Declined");
    wait_for_prompt(&session);
    assert_eq!(model.requests().len(), 0);
    enter(&mut session, "/clear", ">");
    session.wait_until_gone("Declined");
    enter(&mut session, call, "y send it to the model");
    session.type_text("y");
    session.wait_for_text("Paris, said the model.");
}
