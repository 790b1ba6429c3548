//! Calls of several principals at one server: the server's questions and messages reach the right one.

use std::sync::Arc;

use mcparley::elicit::{ElicitationReply, ElicitationRequest};
use mcparley::permission::{Consent, DenyingApprover};
use mcparley::pool::principal::{Principal, PrincipalId};
use mcparley::pool::roots::Root;
use mcparley::sample::Sampler;
use mcparley::{Call, CallContext, CallOutcome};
use mcparley_testkit::{HttpServer, ScriptedStdio};
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, http, servers, stdio};
use crate::asking::{Answer, DONE, Inside, Person, host};
use crate::sampling::Parrot;

const ASKS: &str = "server-request:elicitation/create";
const SAMPLES: &str = "server-request:sampling/createMessage";
const OLD: [&str; 2] = ["--versions", "2025-11-25"];

/// A server of the old era whose messages come on the stream of the call they belong to.
fn streaming(scripts: &[&str]) -> HttpServer {
    HttpServer::start_with(scripts, &[OLD[0], OLD[1], "--answer", "sse"])
}

fn ann(_: &ElicitationRequest) -> ElicitationReply {
    ElicitationReply::Accept(json!({ "name": "Ann" }))
}

fn ben(_: &ElicitationRequest) -> ElicitationReply {
    ElicitationReply::Accept(json!({ "name": "Ben" }))
}

/// A user that answers in one way, after a permit.
fn slow(answer: fn(&ElicitationRequest) -> ElicitationReply) -> Person {
    let mut person = Person::new(answer);
    person.leave = Person::slow().leave;
    person
}

fn context(id: &str, person: &Person) -> CallContext {
    let principal = Arc::new(Principal::new(PrincipalId::new(id)));
    CallContext::new(principal, Arc::new(DenyingApprover), Arc::new(person.clone()))
}

/// Calls `echo` of the server in this context.
async fn echo(alive: &Alive, context: CallContext) -> CallOutcome {
    let call = Call::on_server("one", "echo", json!({ "message": "hi" })).with_consent(Consent::Given);
    tokio::time::timeout(LONG, alive.host.call(call.with_context(context))).await.unwrap().unwrap()
}

/// The reply that the server received.
fn told(outcome: &CallOutcome) -> Value {
    serde_json::from_str::<Value>(&outcome.to_text()).unwrap()
}

// G3 X5
#[tokio::test]
async fn questions_of_two_principals_at_one_old_http_server_reach_exactly_their_own_caller() {
    let server = streaming(&[ASKS]);
    let alive = servers([("one", http(&server))]).start_as(|builder| builder.elicitor(Person::agreeable()));
    let people = [slow(ann), slow(ben)];
    let answering = async {
        for person in &people {
            tokio::time::timeout(LONG, person.came.notified()).await.unwrap();
        }
        // Both are asked before either has answered.
        people.iter().for_each(|person| person.leave.as_ref().unwrap().add_permits(1));
    };
    let [a, b] = [("ann", &people[0]), ("ben", &people[1])].map(|(id, person)| context(id, person));
    let (of_ann, of_ben, ()) = tokio::join!(echo(&alive, a), echo(&alive, b), answering);
    assert_eq!(told(&of_ann)["result"]["content"]["name"], "Ann");
    assert_eq!(told(&of_ben)["result"]["content"]["name"], "Ben");
    assert_eq!(people.each_ref().map(|person| person.asked().len()), [1, 1]);
}

// G3 X5: answers in JSON have no stream of their own, so the question comes on the shared one.
#[tokio::test]
async fn question_on_a_shared_stream_is_canceled_while_two_principals_have_calls_in_flight() {
    let shared = HttpServer::start_with(&[ASKS], &[OLD[0], OLD[1], "--answer", "json"]);
    let alive = servers([("one", http(&shared))]).start_as(|builder| builder.elicitor(Person::agreeable()));
    let (first, second) = (slow(ann), slow(ben));
    let beside = async {
        tokio::time::timeout(LONG, first.came.notified()).await.unwrap();
        let outcome = echo(&alive, context("ben", &second)).await;
        first.leave.as_ref().unwrap().add_permits(1);
        outcome
    };
    let (of_ann, of_ben) = tokio::join!(echo(&alive, context("ann", &first)), beside);
    assert_eq!(told(&of_ann)["result"]["content"]["name"], "Ann", "alone when it asked");
    assert_eq!(told(&of_ben)["result"], json!({ "action": "cancel" }));
    assert_eq!((first.asked().len(), second.asked().len()), (1, 0));
}

// G3 X5: pipes have one channel for all calls, so a tool that asks runs for one principal at a time.
#[tokio::test]
async fn questions_of_two_principals_at_one_local_server_reach_exactly_their_own_caller() {
    let local = stdio(&ScriptedStdio::new(&[ASKS]).with_option(OLD[0], OLD[1]));
    let alive = servers([("one", local)]).start_as(|builder| builder.elicitor(Person::agreeable()));
    let (first, second) = (slow(ann), Person::new(ben));
    let beside = async {
        tokio::time::timeout(LONG, first.came.notified()).await.unwrap();
        let answer = async { first.leave.as_ref().unwrap().add_permits(1) };
        tokio::join!(echo(&alive, context("ben", &second)), answer).0
    };
    let (of_ann, of_ben) = tokio::join!(echo(&alive, context("ann", &first)), beside);
    assert_eq!(told(&of_ann)["result"]["content"]["name"], "Ann");
    assert_eq!(told(&of_ben)["result"]["content"]["name"], "Ben");
    assert_eq!((first.asked().len(), second.asked().len()), (1, 1));
}

// G3 X6
#[tokio::test]
async fn a_question_to_a_model_goes_to_the_sampler_of_its_call() {
    let server = streaming(&[SAMPLES]);
    let own = Parrot::default();
    let alive = servers([("one", http(&server))]).start_as(|builder| builder.sampler(own.clone()));
    let (parrot, person) = (Parrot::default(), Person::agreeable());
    let sampler: Arc<dyn Sampler> = Arc::new(parrot.clone());
    let with_model = context("ann", &person).with_sampler(sampler);
    let (first, second) = tokio::join!(echo(&alive, with_model), echo(&alive, context("ben", &person)));
    for outcome in [first, second] {
        assert_eq!(told(&outcome)["result"]["model"], "parrot-1", "{}", outcome.to_text());
    }
    assert_eq!((parrot.asked.lock().unwrap().len(), own.asked.lock().unwrap().len()), (1, 1));
}

// G3 X6
#[tokio::test]
async fn questions_to_a_model_of_two_principals_are_asked_one_after_the_other() {
    let local = stdio(&ScriptedStdio::new(&[SAMPLES]).with_option(OLD[0], OLD[1]));
    let mut slow = Parrot::default();
    slow.pace = std::time::Duration::from_millis(500);
    let alive = servers([("one", local)]).start_as(|builder| builder.sampler(slow.clone()));
    let person = Person::agreeable();
    let beside = async {
        tokio::time::timeout(LONG, slow.came.notified()).await.unwrap();
        echo(&alive, context("ben", &person)).await
    };
    let (of_ann, of_ben) = tokio::join!(echo(&alive, context("ann", &person)), beside);
    assert_eq!(told(&of_ann)["result"]["model"], "parrot-1");
    assert_eq!(told(&of_ben)["result"]["model"], "parrot-1", "{}", of_ben.to_text());
    assert_eq!(slow.asked.lock().unwrap().len(), 2);
}

// G3 X8
#[tokio::test]
async fn a_log_message_names_the_principal_of_its_call() {
    let scripts = [ASKS, "flood:1"];
    let server = streaming(&scripts);
    let local = stdio(&ScriptedStdio::new(&scripts).with_option(OLD[0], OLD[1]));
    for (way, entry) in [("http", http(&server)), ("stdio", local)] {
        let alive = servers([("one", entry)]).start_as(|builder| builder.elicitor(Person::agreeable()));
        let mut messages = alive.host.log_messages();
        let (first, second) = (slow(ann), Person::new(ben));
        let beside = async {
            tokio::time::timeout(LONG, first.came.notified()).await.unwrap();
            let answer = async { first.leave.as_ref().unwrap().add_permits(1) };
            tokio::join!(echo(&alive, context("ben", &second)), answer).0
        };
        tokio::join!(echo(&alive, context("ann", &first)), beside);
        let mut principals = Vec::new();
        for _ in 0..2 {
            let message = tokio::time::timeout(LONG, messages.recv()).await.unwrap().unwrap();
            principals.push(message.principal.map(|principal| principal.as_str().to_owned()));
        }
        principals.sort();
        assert_eq!(principals, [Some("ann".to_owned()), Some("ben".to_owned())], "{way}");
    }
}

// G3 X6
#[tokio::test]
async fn requested_roots_are_those_of_the_calls_principal() {
    let wants =
        r#"{"resultType":"input_required","inputRequests":{"it":{"method":"roots/list","params":{}}}}"#;
    let server = Inside::new("2026-07-28", [Answer::Result(wants), Answer::Result(DONE)]);
    let person = Person::agreeable();
    let (host, _world) = host(&server, None);
    let roots = ["file:///srv/ann", "file:///"].map(|uri| Root { uri: uri.to_owned(), name: None });
    let context = context("ann", &person).with_roots(roots.to_vec());
    let outcome = host.call(Call::new("mcp__inside__it", json!({})).with_context(context)).await.unwrap();
    assert_eq!(outcome.to_text(), "done");
    let again: Value = serde_json::from_str(server.heard().last().unwrap()).unwrap();
    assert_eq!(
        again["inputResponses"]["it"],
        json!({ "roots": [{ "uri": "file:///srv/ann" }] }),
        "all but `/`"
    );
}
