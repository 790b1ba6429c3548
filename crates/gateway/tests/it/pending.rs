//! Open questions that are listed, and answered from another terminal.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use mcparley::config::change::AlwaysAllowScope;
use mcparley::model::limits::{CONTROL_ANSWER_TIME, PARKED_TIME};
use mcparley_gateway::control::{ControlError, find_gateways, open_questions, serve_control};
use mcparley_gateway::{
    AnswerError, Gateway, PendingQuestion, QuestionDetails, QuestionKind, TerminalAnswer,
};
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::client::{Client, LONG, NEW};
use crate::world::{Served, World};

const OLD: &str = "2025-11-25";

fn can_ask() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {} })
}

fn echo(message: &str) -> Value {
    json!({ "name": "one__echo", "arguments": { "message": message } })
}

/// A gateway whose server asks who the user is.
fn asking_server() -> Served {
    let server = ScriptedStdio::new(&["server-request:elicitation/create"]);
    World::with([("one", server)]).allow("mcp__one").gateway()
}

/// Waits until the gateway lists so many questions.
async fn wait_for_questions(gateway: &Gateway, count: usize) -> Vec<PendingQuestion> {
    let waiting = async {
        loop {
            let questions = gateway.pending_questions(true);
            if questions.len() == count {
                return questions;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.expect("the questions in time")
}

/// Calls a tool as a client of the new era until the call is parked; returns the request to come back with.
async fn park(client: &mut Client, params: &Value) -> Value {
    let result = client.ask("tools/call", params.clone()).await["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let mut again = params.clone();
    again["requestState"] = result["requestState"].clone();
    again
}

fn accept(content: Value) -> TerminalAnswer {
    TerminalAnswer::Accept { content: Some(content) }
}

// G3
#[tokio::test]
async fn question_during_a_prompt_is_listed_and_answered_from_a_terminal() {
    for version in [OLD, NEW] {
        let server = ScriptedStdio::new(&["asks:form"]).with_option("--versions", OLD);
        let gateway = World::with([("one", server.with_option("--on", "prompts/get"))]).gateway();
        let mut client = Client::greeting(&gateway, version, can_ask()).await;
        client.tools().await;
        let prompt = json!({ "name": "one__greet" });
        let id = client.begin("prompts/get", prompt.clone()).await;
        let [question] = &wait_for_questions(&gateway, 1).await[..] else { panic!("one question") };
        assert_eq!((question.tool.as_str(), question.kind), ("prompts/get", QuestionKind::Form));
        if version == NEW {
            let parked = client.answer(&id).await["result"].clone();
            gateway.answer_question(&question.id, accept(json!({ "name": "Grace" }))).unwrap();
            let mut again = prompt;
            again["requestState"] = parked["requestState"].clone();
            let done = client.ask("prompts/get", again).await;
            assert!(done["result"]["messages"].is_array(), "{done}");
        } else {
            gateway.answer_question(&question.id, accept(json!({ "name": "Grace" }))).unwrap();
            let done = client.answer(&id).await;
            assert!(done["result"]["messages"].is_array(), "{done}");
        }
    }
}

// G3
#[tokio::test]
async fn parked_permission_question_is_listed_and_answered_once() {
    let gateway = World::one().gateway();
    let mut client = Client::greeting(&gateway, NEW, can_ask()).await;
    let again = park(&mut client, &echo("hi")).await;
    let [question] = &wait_for_questions(&gateway, 1).await[..] else { panic!("one question") };
    assert_eq!(
        (question.server.as_deref(), question.tool.as_str(), question.kind),
        (Some("one"), "mcp__one__echo", QuestionKind::Permission)
    );
    assert_eq!(question.arguments, Some(json!({ "message": "hi" })));
    let [bare] = &gateway.pending_questions(false)[..] else { panic!("one question") };
    assert!(
        !serde_json::to_string(bare).unwrap().contains("hi"),
        "no argument without being asked: {bare:?}"
    );

    let wrong = gateway.answer_question(&question.id, accept(json!({})));
    assert_eq!(wrong, Err(AnswerError::WrongKind { kind: QuestionKind::Permission }));
    gateway.answer_question(&question.id, TerminalAnswer::Allow).unwrap();
    let twice = gateway.answer_question(&question.id, TerminalAnswer::Allow);
    assert_eq!(twice, Err(AnswerError::Unknown { id: question.id.clone() }));

    // The client's own answer comes too late, and the client gets the result of the call.
    let mut late = again.clone();
    late["inputResponses"] = json!({ "mcparley-permission": { "action": "decline" } });
    let result = client.ask("tools/call", late).await["result"].clone();
    assert_eq!((&result["resultType"], &result["content"][0]["text"]), (&json!("complete"), &json!("hi")));
    assert_eq!(client.ask("tools/call", again).await["error"]["code"], -32602, "the result is given once");
}

// G3
#[tokio::test]
async fn client_that_answers_first_takes_the_question_off_the_list() {
    let gateway = World::one().gateway();
    for version in [OLD, NEW] {
        let mut client = Client::greeting(&gateway, version, can_ask()).await;
        let reply = json!({ "action": "accept", "content": { "decision": "allow" } });
        let (id, question);
        if version == NEW {
            let mut again = park(&mut client, &echo("hi")).await;
            question = wait_for_questions(&gateway, 1).await[0].id.clone();
            again["inputResponses"] = json!({ "mcparley-permission": reply });
            id = client.begin("tools/call", again).await;
        } else {
            id = client.begin("tools/call", echo("hi")).await;
            let request = client.next_of("elicitation/create").await;
            question = wait_for_questions(&gateway, 1).await[0].id.clone();
            client.reply(&request["id"], reply).await;
        }
        assert_eq!(client.answer(&id).await["result"]["content"][0]["text"], "hi", "{version}");
        assert!(gateway.pending_questions(false).is_empty(), "{version}");
        let late = gateway.answer_question(&question, TerminalAnswer::Allow);
        assert_eq!(late, Err(AnswerError::Unknown { id: question }), "{version}");
    }
}

// G3: the call goes on although no request of the client waits for it.
#[tokio::test]
async fn parked_call_goes_on_and_finishes_before_its_client_comes_back() {
    let server = ScriptedStdio::new(&["server-request:elicitation/create"]);
    let gateway = World::with([("one", server)]).gateway();
    let mut client = Client::greeting(&gateway, NEW, can_ask()).await;
    let again = park(&mut client, &echo("hi")).await;
    let permission = wait_for_questions(&gateway, 1).await[0].clone();
    gateway.answer_question(&permission.id, TerminalAnswer::Allow).unwrap();
    // The server asks only once the call has reached it.
    let form = loop {
        match &gateway.pending_questions(true)[..] {
            [question] if question.kind == QuestionKind::Form => break question.clone(),
            _ => tokio::task::yield_now().await,
        }
    };
    let mismatch = gateway.answer_question(&form.id, accept(json!({ "age": -1 })));
    assert!(matches!(mismatch, Err(AnswerError::Mismatch { .. })), "{mismatch:?}");
    gateway.answer_question(&form.id, accept(json!({ "name": "Grace" }))).unwrap();
    wait_for_questions(&gateway, 0).await;
    let result = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Grace"), "{result}");
}

// G3: the user denies with a reason, which the model gets.
#[tokio::test]
async fn old_client_is_told_that_its_question_was_answered_elsewhere() {
    let gateway = World::one().gateway();
    let mut client = Client::greeting(&gateway, OLD, can_ask()).await;
    let id = client.begin("tools/call", echo("hi")).await;
    let request = client.next_of("elicitation/create").await;
    let question = wait_for_questions(&gateway, 1).await[0].clone();
    assert_eq!(question.client.as_deref(), Some("raw"));
    let message = Some("the user denied it: not\u{202e} today".to_owned());
    gateway.answer_question(&question.id, TerminalAnswer::Deny { message }).unwrap();
    let result = client.answer(&id).await["result"].clone();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the user denied it: not today"), "{text}");
    let withdrawn = client.next_of("notifications/cancelled").await;
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
}

// G3 P6
#[tokio::test]
async fn always_allow_from_another_terminal_is_not_asked_again() {
    let gateway = World::one().gateway();
    let mut client = Client::greeting(&gateway, NEW, can_ask()).await;
    let again = park(&mut client, &echo("first")).await;
    let question = wait_for_questions(&gateway, 1).await[0].clone();
    let always = TerminalAnswer::AlwaysTool { scope: AlwaysAllowScope::Private };
    gateway.answer_question(&question.id, always).unwrap();
    let result = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(result["content"][0]["text"], "first");
    let second = client.call("one__echo", json!({ "message": "second" })).await;
    assert_eq!(second["content"][0]["text"], "second");
}

// G3: only a user declines.
#[tokio::test]
async fn declined_and_canceled_forms_reach_the_server_as_such() {
    for (answer, action) in [(TerminalAnswer::Decline, "decline"), (TerminalAnswer::Cancel, "cancel")] {
        let gateway = asking_server();
        let mut client = Client::greeting(&gateway, OLD, can_ask()).await;
        let id = client.begin("tools/call", echo("x")).await;
        let question = wait_for_questions(&gateway, 1).await[0].clone();
        assert!(matches!(question.details, Some(QuestionDetails::Form(_))), "{question:?}");
        gateway.answer_question(&question.id, answer).unwrap();
        let result = client.answer(&id).await["result"].clone();
        assert!(result["content"][0]["text"].as_str().unwrap().contains(action), "{result}");
    }
}

// G3 X6
#[tokio::test]
async fn sampling_request_is_accepted_only_with_a_complete_result() {
    let server = ScriptedStdio::new(&["server-request:sampling/createMessage"]);
    let gateway = World::with([("one", server)]).allow("mcp__one").gateway();
    let mut client = Client::greeting(&gateway, OLD, can_ask()).await;
    let id = client.begin("tools/call", echo("x")).await;
    let question = wait_for_questions(&gateway, 1).await[0].clone();
    let mut result = json!({});
    let text = json!({ "type": "text", "text": "Paris" });
    for (member, value) in [("role", json!("assistant")), ("content", text), ("model", json!("me"))] {
        let error = gateway.answer_question(&question.id, accept(result.clone())).unwrap_err();
        assert!(error.to_string().contains(&format!("needs `{member}`")), "{error}");
        result[member] = value;
    }
    gateway.answer_question(&question.id, accept(result)).unwrap();
    let answer = client.answer(&id).await["result"].clone();
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("Paris"), "{answer}");
}

// G3: the time of a parked call starts again with an answer from another terminal.
#[tokio::test]
async fn parked_call_expires_with_its_questions() {
    let gateway = asking_server();
    let mut client = Client::greeting(&gateway, NEW, can_ask()).await;
    let again = park(&mut client, &echo("x")).await;
    let question = wait_for_questions(&gateway, 1).await[0].clone();
    tokio::time::pause();
    tokio::time::advance(PARKED_TIME / 2).await;
    assert_eq!(gateway.pending_questions(false)[0].age_seconds, PARKED_TIME.as_secs() / 2);
    tokio::time::advance(PARKED_TIME).await;
    tokio::time::resume();
    wait_for_questions(&gateway, 0).await;
    let late = gateway.answer_question(&question.id, accept(json!({ "name": "Grace" })));
    assert_eq!(late, Err(AnswerError::Unknown { id: question.id }));
    assert_eq!(client.ask("tools/call", again).await["error"]["code"], -32602);
}

// G3
#[tokio::test]
async fn result_of_a_parked_call_is_kept_for_a_while_after_the_answer() {
    let gateway = asking_server();
    let mut client = Client::greeting(&gateway, NEW, can_ask()).await;
    let again = park(&mut client, &echo("x")).await;
    let question = wait_for_questions(&gateway, 1).await[0].clone();
    tokio::time::pause();
    tokio::time::advance(PARKED_TIME * 9 / 10).await;
    tokio::time::resume();
    gateway.answer_question(&question.id, accept(json!({ "name": "Grace" }))).unwrap();
    tokio::time::pause();
    tokio::time::advance(PARKED_TIME * 9 / 10).await;
    tokio::time::resume();
    let result = client.ask("tools/call", again).await["result"].clone();
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Grace"), "{result}");
}

/// Asks the gateways of a folder in a thread, as another process would.
async fn ask_gateways<T: Send + 'static>(
    folder: &Path,
    ask: impl FnOnce(Vec<mcparley_gateway::control::GatewayConnection>) -> T + Send + 'static,
) -> T {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || ask(find_gateways(&folder).unwrap())).await.unwrap()
}

/// Waits until a gateway listens in the folder.
async fn wait_for_socket(folder: &Path) {
    let is_there = || {
        std::fs::read_dir(folder).is_ok_and(|mut entries| {
            entries.any(|entry| entry.unwrap().path().extension().is_some_and(|end| end == "sock"))
        })
    };
    let waiting = async {
        while !is_there() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.expect("a socket in time");
}

// G3: the socket is the user's own, is gone with the gateway, and is removed by the next reader after a crash.
#[tokio::test]
async fn control_socket_lists_and_answers_questions() {
    let gateway = asking_server();
    // Longer than the address of a socket may be.
    let folder = gateway.world.path("state").join("n".repeat(120)).join("control");
    let (serving, in_folder) = (Gateway::clone(&gateway), folder.clone());
    let control = tokio::spawn(async move { serve_control(&serving, in_folder).await });
    wait_for_socket(&folder).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let socket = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&folder), mode(&socket)), (0o700, 0o600));
    std::os::unix::net::UnixListener::bind(gateway.world.path("dead")).unwrap();
    std::fs::rename(gateway.world.path("dead"), folder.join("1-dead.sock")).unwrap();

    let mut client = Client::greeting(&gateway, OLD, can_ask()).await;
    let id = client.begin("tools/call", echo("x")).await;
    let question = wait_for_questions(&gateway, 1).await[0].clone();
    let by_socket = ask_gateways(&folder, |mut gateways| {
        assert_eq!(gateways.len(), 1);
        assert_eq!(gateways[0].gateway_facts().unwrap().pid, std::process::id());
        gateways[0].pending_questions(true).unwrap()
    });
    let by_socket = by_socket.await;
    assert_eq!(by_socket[0].details, question.details);
    assert!(!folder.join("1-dead.sock").exists(), "a socket without a gateway is removed");

    let name = question.id.clone();
    ask_gateways(&folder, move |mut gateways| {
        let gateway = &mut gateways[0];
        let refused = gateway.answer_question(&name, &accept(json!({ "age": -1 }))).unwrap_err();
        assert!(refused.to_string().contains("does not match the form"), "{refused}");
        gateway.answer_question(&name, &accept(json!({ "name": "Grace" }))).unwrap();
        let twice = gateway.answer_question(&name, &TerminalAnswer::Cancel).unwrap_err();
        assert!(matches!(twice, ControlError::UnknownQuestion), "{twice}");
    })
    .await;
    let result = client.answer(&id).await["result"].clone();
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Grace"), "{result}");
    control.abort();
    assert!(control.await.unwrap_err().is_cancelled());
    assert!(!socket.exists(), "the socket is gone with the gateway");
}

// G3: a folder that others can write to may hold sockets of others.
#[test]
fn sockets_in_a_folder_of_others_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let set_mode = |mode| {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o777);
    assert!(matches!(find_gateways(folder.path()), Err(ControlError::Folder(_))));
    set_mode(0o700);
    assert!(find_gateways(folder.path()).unwrap().is_empty());
    assert!(find_gateways(&folder.path().join("none")).unwrap().is_empty());
}

// G3: a gateway that is stuck holds up nobody for long.
#[test]
fn gateway_that_does_not_answer_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let _stuck = std::os::unix::net::UnixListener::bind(folder.path().join("1-dead.sock")).unwrap();
    let begun = std::time::Instant::now();
    let survey = open_questions(folder.path(), false).unwrap();
    assert_eq!((survey.questions.len(), survey.silent), (0, 1));
    assert!(begun.elapsed() < CONTROL_ANSWER_TIME * 3, "{:?}", begun.elapsed());
    assert!(folder.path().join("1-dead.sock").exists(), "it still runs");
}
