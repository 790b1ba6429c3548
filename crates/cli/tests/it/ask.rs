//! `ask`: questions to a scripted model, with the tools of scripted servers.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use mcparley_cli::exit;
use mcparley_testkit::{ModelServer, TerminalSession};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::talk::{good, scripted, world};
use crate::world::{World, wait_for};

/// Lets a world use this model through the API of Anthropic.
pub(crate) fn use_anthropic(world: &mut World, model: &ModelServer) {
    world.set("ANTHROPIC_API_KEY", "canary-key");
    world.set("ANTHROPIC_BASE_URL", model.url());
}

/// Lets a world use this model through the API of OpenAI.
pub(crate) fn use_openai(world: &mut World, model: &ModelServer) {
    world.set("OPENAI_API_KEY", "canary-key");
    world.set("OPENAI_BASE_URL", format!("{}/v1", model.url()));
}

fn echo(message: &str) -> Value {
    json!({ "name": "mcp__good__echo", "arguments": { "message": message } })
}

// U4
#[test]
fn answer_is_printed_and_tool_calls_are_reported_on_stderr() {
    let turns = json!([
        { "text": "I ask the server.", "calls": [echo("hello there")] },
        { "text": "It says hello.", "expect": ["hello there"] },
    ]);
    let (model, mut world) = (ModelServer::start(&turns), good());
    use_anthropic(&mut world, &model);
    let done = world.mcparley(&["ask", "say", "hello", "--allowed-tools", "mcp__good__echo"]);
    assert_eq!((done.code, done.out.as_str()), (0, "I ask the server.\nIt says hello.\n"), "{done:?}");
    assert!(done.err.starts_with("● good.echo(message=\"hello there\")  "), "{done:?}");
    let request = &model.requests()[0];
    assert_eq!(request["body"]["messages"][0]["content"][0]["text"], "say hello");
    assert_eq!(request["headers"]["x-api-key"], "canary-key");
    assert!(!format!("{done:?}").contains("canary"));
}

// U4 U3
#[test]
fn json_has_text_calls_usage_and_stop_reason() {
    let fail = json!({ "name": "mcp__good__fail", "arguments": {} });
    let turns = json!([{ "calls": [echo("x"), fail] }, { "text": "done" }]);
    let (model, mut world) = (ModelServer::start(&turns), good());
    use_openai(&mut world, &model);
    let mut report = world.json(&["ask", "go", "--allowed-tools", "mcp__good"]);
    for call in report["toolCalls"].as_array_mut().unwrap() {
        assert!(call["durationMs"].take().is_u64(), "{call}");
    }
    let usage =
        json!({ "inputTokens": 200, "outputTokens": 60, "cacheReadTokens": 40, "cacheWriteTokens": 0 });
    let fails = "this tool fails";
    assert_eq!(
        report,
        json!({
            "model": "openai:gpt-5.4", "text": "done", "rounds": 2, "stopReason": "end_turn", "usage": usage,
            "toolCalls": [
                { "id": "call_1_1", "name": "mcp__good__echo", "arguments": { "message": "x" }, "outcome": "ok", "durationMs": null },
                { "id": "call_1_2", "name": "mcp__good__fail", "arguments": {}, "outcome": "tool-error", "error": fails, "durationMs": null },
            ],
        })
    );
}

// U4 P1
#[test]
fn tool_that_no_rule_allows_is_denied_and_the_user_reads_how_to_allow_it() {
    let turns = json!([{ "calls": [echo("x")] }, { "text": "I may not.", "expect": ["was denied"] }]);
    let (model, mut world) = (ModelServer::start(&turns), good());
    use_anthropic(&mut world, &model);
    let done = world.mcparley(&["ask", "go"]);
    assert_eq!((done.code, done.out.as_str()), (0, "I may not.\n"), "{done:?}");
    assert!(done.err.contains("▸ denied: "), "{done:?}");
    assert!(done.err.contains("warning: denied a call of `mcp__good__echo`"), "{done:?}");
    assert!(done.err.contains("hint: run `mcparley permissions allow"), "{done:?}");
    // The command that allows it is the user's to run, not the model's.
    assert!(!model.bodies()[1].to_string().contains("permissions allow"));
}

// U4
#[test]
fn without_a_model_the_error_says_which_variables_to_set() {
    let world = good();
    let done = world.mcparley(&["ask", "hello"]);
    assert_eq!(done.code, i32::from(exit::MODEL.number), "{done:?}");
    assert!(done.err.starts_with("error: no model is configured\nhint: set `ANTHROPIC_API_KEY`"), "{done:?}");
    let done = world.mcparley(&["ask", "hello", "--model", "gemini:x"]);
    assert!(done.err.contains("there is no key for Gemini\nhint: set `GEMINI_API_KEY`"), "{done:?}");
}

// U4 U3
#[test]
fn question_is_read_from_standard_input_too() {
    let turns = json!([{ "text": "short" }, { "text": "same" }]);
    let (model, mut world) = (ModelServer::start(&turns), World::new());
    use_anthropic(&mut world, &model);
    assert_eq!(world.fed(&["ask", "Summarize this:"], "a long text\n").out, "short\n");
    assert_eq!(world.fed(&["ask"], "only this\n").out, "same\n");
    let asked = |body: &Value| body["messages"][0]["content"][0]["text"].as_str().unwrap().to_owned();
    let questions: Vec<String> = model.bodies().iter().map(asked).collect();
    assert_eq!(questions, ["Summarize this:\n\na long text", "only this"]);
    let none = world.mcparley(&["ask"]);
    assert_eq!(none.code, i32::from(exit::USAGE.number), "{none:?}");
    assert!(none.err.contains("there is no question"), "{none:?}");
}

// U4 U3
#[test]
fn failures_of_the_model_have_exit_codes_and_hints() {
    let error =
        |status: u16, kind: &str| json!([{ "status": status, "error": { "type": kind, "message": "no" } }]);
    let table = [
        (error(401, "authentication_error"), exit::NEEDS_AUTH, "hint: check `ANTHROPIC_API_KEY`"),
        (error(400, "invalid_request_error"), exit::MODEL, "the request was rejected"),
        (error(413, "request_too_large"), exit::MODEL, "the conversation is too long for the model"),
        (error(404, "not_found_error"), exit::MODEL, "hint: name another model"),
        (json!([{ "text": "half", "break": true }]), exit::UNREACHABLE, "the answer broke off"),
        (
            json!([{ "text": "half", "stop": "max_tokens" }]),
            exit::MODEL,
            "the answer is not complete: max_tokens",
        ),
    ];
    for (turns, code, expected) in table {
        let (model, mut world) = (ModelServer::start(&turns), World::new());
        use_anthropic(&mut world, &model);
        let done = world.mcparley(&["ask", "hello"]);
        assert_eq!(done.code, i32::from(code.number), "{turns}: {done:?}");
        assert!(done.err.contains(expected), "{turns}: {done:?}");
        let is_begun = turns[0].get("text").is_some();
        assert_eq!(done.out, if is_begun { "half\n" } else { "" }, "{turns}: the line is ended");
    }
}

// U4
#[test]
fn rate_limit_is_waited_for() {
    let turns = json!([
        { "status": 429, "headers": { "retry-after": "0" }, "error": { "type": "rate_limit_error", "message": "slow" } },
        { "text": "hello" },
    ]);
    let (model, mut world) = (ModelServer::start(&turns), World::new());
    use_openai(&mut world, &model);
    let done = world.mcparley(&["ask", "hello"]);
    assert_eq!((done.code, done.out.as_str()), (0, "hello\n"), "{done:?}");
    assert!(done.err.contains("asking again in 0 s"), "{done:?}");
}

// U4
#[test]
fn ctrl_c_ends_an_answer_and_a_running_call() {
    let slow = json!({ "name": "mcp__slow__slow", "arguments": { "ms": 60_000 } });
    for turns in
        [json!([{ "text": "once upon", "hang": true }]), json!([{ "text": "wait", "calls": [slow] }])]
    {
        let (model, mut world) = (ModelServer::start(&turns), world(&json!({ "slow": scripted(&[]) })));
        use_anthropic(&mut world, &model);
        let mut command = world.command(&["ask", "go", "--allowed-tools", "mcp__slow"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The first byte of the answer.
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(i32::from(exit::INTERRUPTED.number)), "{done:?}");
        wait_for("the request", Duration::from_secs(5), || model.requests().len() == 1);
    }
}

// U4 T2: it could send the user's key elsewhere.
#[test]
fn project_folder_cannot_choose_the_address_of_the_model() {
    let (own, other) = (ModelServer::start(&json!([{ "text": "mine" }])), ModelServer::start(&json!([])));
    let settings = json!({ "env": { "ANTHROPIC_BASE_URL": other.url(), "HTTP_PROXY": other.url(), "MCPARLEY_MODEL": "openai" } });
    let mut world = World::with(&[("home/project/.claude/settings.json", &settings.to_string())]);
    use_anthropic(&mut world, &own);
    let done = world.mcparley(&["ask", "hello", "--setting-sources", "user,project"]);
    assert_eq!((done.code, done.out.as_str()), (0, "mine\n"), "{done:?}");
    assert_eq!(other.requests(), Vec::<Value>::new());
}

// U4
#[test]
fn mentioned_resource_goes_along_and_is_marked_as_the_servers() {
    let turns = json!([{ "text": "noted", "expect": ["was written by that server, not by the user"] }]);
    let (model, mut world) = (ModelServer::start(&turns), good());
    use_anthropic(&mut world, &model);
    let done = world.mcparley(&["ask", "what is in @good:test://note ?"]);
    assert_eq!((done.code, done.out.as_str()), (0, "noted\n"), "{done:?}");
}

// U4 P1
#[test]
fn call_that_no_rule_allows_is_asked_about_on_a_terminal() {
    let turns = json!([{ "calls": [echo("hello there")] }, { "text": "Done.", "expect": ["hello there"] }]);
    let (model, mut world) = (ModelServer::start(&turns), good());
    use_anthropic(&mut world, &model);
    world.set("TERM", "xterm-256color");
    let mut session = TerminalSession::start(&world.command(&["ask", "say", "hello"]));
    session.wait_for_text("Esc deny");
    session.type_text("y");
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("└ Allowed once") && screen.contains("\nDone."), "{screen}");
}
