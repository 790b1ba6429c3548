//! Commands of the console that act on its servers, and mistakes in what is typed.

use mcparley_testkit::Key;
use serde_json::json;

use super::{enter, open, wait_for_prompt};
use crate::talk::{good, scripted, world};

// U4
#[test]
fn mcp_disable_and_enable_act_on_the_running_console() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "good.echo message=before", "\nbefore\n");
    wait_for_prompt(&session);
    enter(&mut session, "/mcp disable good", "good is now disabled (");
    wait_for_prompt(&session);
    enter(&mut session, "good.echo message=off", "error: server `good` does not run: disabled");
    session.wait_for_text("hint: type /mcp enable good");
    assert_eq!(world.json(&["plan"])["servers"][0]["standing"]["is"], "disabled");
    wait_for_prompt(&session);
    enter(&mut session, "/mcp enable all", "good is now enabled (");
    wait_for_prompt(&session);
    enter(&mut session, "good.echo message=again", "\nagain\n");
}

// U4 L6
#[test]
fn mcp_reconnect_replaces_the_process_and_reports_failures() {
    let mut world = world(&json!({ "good": scripted(&[]), "bad": { "command": "false" } }));
    let mut session = open(&mut world);
    let pid = |screen: &str| {
        let mut lines = screen.lines().skip_while(|line| !line.ends_with("good.pid"));
        lines.nth(1).unwrap().trim().parse::<u32>().unwrap()
    };
    let old = pid(&enter(&mut session, "good.pid", " ms\n"));
    enter(&mut session, "/mcp reconnect good", "good is connected: 8 tools, ");
    wait_for_prompt(&session);
    enter(&mut session, "/clear", ">");
    session.wait_until_gone("is connected");
    assert_ne!(pid(&enter(&mut session, "good.pid", " ms\n")), old);
    enter(&mut session, "/mcp reconnect bad", "error: cannot use `bad`");
}

// U4
#[test]
fn mcp_alone_opens_the_screen_and_q_comes_back_to_the_prompt() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "good.echo message=before", "\nbefore\n");
    wait_for_prompt(&session);
    session.enter_line("/mcp");
    session.wait_for_text("connected");
    session.wait_until_gone("before");
    session.type_text("q");
    session.wait_for_text("\nbefore\n");
    wait_for_prompt(&session);
    enter(&mut session, "good.echo message=after", "\nafter\n");
}

// U4
#[test]
fn ctrl_c_ends_a_command_and_not_the_console() {
    let mut world = world(&json!({ "silent": scripted(&["hang-start"]), "good": scripted(&[]) }));
    let mut session = open(&mut world);
    enter(&mut session, "/doctor silent", "waiting for 1 server(s)");
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("error: stopped by SIGINT");
    wait_for_prompt(&session);
    enter(&mut session, "good.echo message=alive", "\nalive\n");
}

// U4
#[test]
fn commands_of_the_command_line_run_on_the_terminal_of_the_console() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "/tools good", "Exit with code 9");
    wait_for_prompt(&session);
    enter(&mut session, "/mcp add --no-check other echo hi", "Added");
    wait_for_prompt(&session);
    enter(&mut session, "/plan", "other");
    wait_for_prompt(&session);
    // The running console follows.
    enter(&mut session, "/mcp disable other", "other is now disabled");
}

// U4
#[test]
fn help_lists_everything_that_can_be_typed() {
    let mut world = good();
    let mut session = open(&mut world);
    let screen = enter(&mut session, "/help", "leave (Ctrl-D)");
    assert!(screen.contains("/calls") && screen.contains("list the last calls"), "{screen}");
    enter(&mut session, "good.add --help", "Usage:");
}

// U4
#[test]
fn mistyped_names_get_a_suggestion_and_text_without_a_model_an_explanation() {
    let mut world = good();
    let mut session = open(&mut world);
    enter(&mut session, "/tols", "hint: did you mean `/tools`?");
    enter(&mut session, "goood.add a=1 b=2", "hint: did you mean `good`?");
    enter(&mut session, "good.ad a=1 b=2", "hint: did you mean `good.add`?");
    enter(&mut session, "good.add aa=1 b=2", "error: unknown argument `aa`");
    enter(&mut session, "tools good", "hint: did you mean `/tools`?");
    let screen = enter(&mut session, "How are you?", "ANTHROPIC_API_KEY");
    assert!(screen.contains("error: this is no command, and no model is configured to answer"), "{screen}");
    wait_for_prompt(&session);
    session.press_keys(&[Key::Ctrl('d')]);
    assert_eq!(session.wait_for_exit().0, 0);
}

// U4: a question of a server comes while its call runs; the prompt reads no keys then.
#[test]
fn dialogs_appear_while_a_call_runs_and_ctrl_c_there_cancels_the_call() {
    let mut world =
        world(&json!({ "asks": scripted(&["server-request:elicitation/create"]), "good": scripted(&[]) }));
    let mut session = open(&mut world);
    enter(&mut session, "asks.echo message=x", "Ctrl-C cancel the call");
    session.press_keys(&[Key::Ctrl('c')]);
    session.wait_for_text("canceled asks.echo after ");
    wait_for_prompt(&session);
    enter(&mut session, "asks.echo message=x", "Ctrl-C cancel the call");
    session.press_keys(&[Key::Escape]);
    session.wait_for_text("decline");
    wait_for_prompt(&session);
    enter(&mut session, "good.echo message=alive", "\nalive\n");
}
