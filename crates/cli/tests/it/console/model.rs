//! Text for a model: the conversation, its end by Ctrl-C, and its configuration.

use mcparley_testkit::{Key, ModelServer, TerminalSession};
use serde_json::{Value, json};

use super::{enter, open, wait_for_prompt};
use crate::ask::use_anthropic;
use crate::talk::good;
use crate::world::World;

fn open_with_model(world: &mut World, turns: &Value) -> (ModelServer, TerminalSession) {
    let model = ModelServer::start(turns);
    use_anthropic(world, &model);
    let session = open(world);
    (model, session)
}

// U4
#[test]
fn ctrl_c_cancels_the_answer_and_the_console_lives_on() {
    let turns = json!([{ "text": "I begin to", "hang": true }, { "text": "Here I am." }]);
    let mut world = good();
    let (_model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "tell me a long story", "I begin to");
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("\ncanceled\n");
    wait_for_prompt(&session);
    enter(&mut session, "are you there?", "\nHere I am.\n");
}

// U4
#[test]
fn ctrl_c_in_a_permission_dialog_cancels_the_answer() {
    let call = json!({ "name": "mcp__good__echo", "arguments": { "message": "x" } });
    let turns = json!([{ "calls": [call] }, { "text": "Here I am." }]);
    let mut world = good();
    let (_model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "call the tool", "Esc deny");
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("\ncanceled\n");
    wait_for_prompt(&session);
    enter(&mut session, "are you there?", "\nHere I am.\n");
}

// U4
#[test]
fn clear_forgets_the_messages() {
    let turns = json!([{ "text": "Noted." }, { "text": "Yes." }, { "text": "No." }]);
    let mut world = good();
    let (model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "remember the word kumquat", "\nNoted.\n");
    wait_for_prompt(&session);
    enter(&mut session, "do you remember?", "\nYes.\n");
    wait_for_prompt(&session);
    session.enter_line("/clear");
    session.wait_until_gone("Yes.");
    enter(&mut session, "and now?", "\nNo.\n");
    let bodies = model.bodies();
    let mentions: Vec<bool> = bodies.iter().map(|body| body.to_string().contains("kumquat")).collect();
    assert_eq!(mentions, [true, true, false]);
}

// U4
#[test]
fn model_command_shows_and_changes_the_model() {
    let turns = json!([{ "text": "One." }, { "text": "Two." }]);
    let mut world = good();
    let (model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "first", "\nOne.\n");
    wait_for_prompt(&session);
    enter(&mut session, "/model anthropic:other-model", "\nanthropic:other-model\n");
    enter(&mut session, "second", "\nTwo.\n");
    wait_for_prompt(&session);
    enter(&mut session, "/model openai:gpt", "error: there is no key for OpenAI");
    session.wait_for_text("hint: set `OPENAI_API_KEY`");
    enter(&mut session, "/model", "\nanthropic:other-model\n>");
    let bodies = model.bodies();
    assert_ne!(bodies[0]["model"], "other-model");
    assert_eq!(bodies[1]["model"], "other-model");
    assert!(bodies[1].to_string().contains("One."), "the messages so far go along: {:#}", bodies[1]);
}

// U4 X3 X4
#[test]
fn prompts_and_mentioned_resources_are_sent_to_the_model() {
    let turns = json!([
        { "text": "Greeted.", "expect": ["Say hello."] },
        { "text": "Read.", "expect": ["explain @good:test://note", "a note"] },
        { "text": "Unknown." },
    ]);
    let mut world = good();
    let (_model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "/mcp__good__greet", "\nGreeted.\n");
    wait_for_prompt(&session);
    enter(&mut session, "explain @good:test://note", "\nRead.\n");
    wait_for_prompt(&session);
    let screen = enter(&mut session, "explain @absent:test://note", "\nUnknown.\n");
    assert!(screen.contains("@absent:test://note\nwarning: "), "{screen}");
}

// U4 R2: limits are for models; a person gets the whole result.
#[test]
fn typed_calls_print_whole_results_though_the_model_has_limits() {
    let call = json!({ "name": "mcp__good__big", "arguments": { "bytes": 4000 } });
    let turns = json!([{ "calls": [call] }, { "text": "Long." }]);
    let mut world = good();
    world.set("MAX_MCP_OUTPUT_TOKENS", "100");
    let (_model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "good.big bytes=4000", "more lines (Ctrl-O or /last shows all)");
    wait_for_prompt(&session);
    enter(&mut session, "call it", "Esc deny");
    session.type_text("1");
    session.wait_for_text("\nLong.\n");
    session.wait_for_text(" ▸ 4 kB stored");
}

// U4
#[test]
fn without_a_model_text_gets_the_hint_to_configure_one() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "how are you today?", "error: this is no command, and no model is configured");
    session.wait_for_text("hint: set `ANTHROPIC_API_KEY`");
}

// U4
#[test]
fn wrong_model_configuration_is_a_warning_and_the_console_works() {
    let mut world = good();
    world.set("MCPARLEY_MODEL", "openai:gpt");
    let mut session = open(&mut world);
    let screen = session.screen_text();
    assert!(screen.contains("warning: no model is used: there is no key for OpenAI; set "), "{screen}");
    enter(&mut session, "good.echo message=works", "\nworks\n");
}

// U4
#[test]
fn failure_of_the_model_is_an_error_with_a_hint() {
    let error = json!({ "type": "authentication_error", "message": "bad key" });
    let turns = json!([{ "status": 401, "error": error }]);
    let mut world = good();
    let (_model, mut session) = open_with_model(&mut world, &turns);
    enter(&mut session, "hello", "the key was not accepted");
    session.wait_for_text("hint: check `ANTHROPIC_API_KEY`");
    wait_for_prompt(&session);
}
