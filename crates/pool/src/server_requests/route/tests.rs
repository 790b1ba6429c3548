//! The routing rules of messages, each a row of a table.

use std::sync::Arc;

use mcparley_wire::peer::PingHandler;
use mcparley_wire::transport::memory::link_handlers;
use serde_json::json;

use super::*;

/// A call in flight of this name.
#[derive(Clone, Debug)]
struct Row {
    name: &'static str,
    principal: Option<PrincipalId>,
    request: Option<RequestId>,
    task: Option<&'static str>,
    may_ask: bool,
    has_asked: bool,
}

impl RouteCandidate for Row {
    fn principal(&self) -> Option<&PrincipalId> {
        self.principal.as_ref()
    }

    fn awaits_request(&self, request: RequestId) -> bool {
        self.request == Some(request)
    }

    fn follows_task(&self, task: &str) -> bool {
        self.task == Some(task)
    }

    fn may_ask(&self) -> bool {
        self.may_ask
    }

    fn has_asked_exactly(&self) -> bool {
        self.has_asked
    }
}

/// A row: the case, the cause of the message, the task it names, the calls in flight, and its route.
type Case<'c> = (&'c str, Cause, Option<&'c str>, &'c [Row], &'c str);

fn call(name: &'static str, principal: &str) -> Row {
    let principal = Some(PrincipalId::new(principal));
    Row { name, principal, request: None, task: None, may_ask: true, has_asked: false }
}

/// The route of a message in a word.
fn route(cause: Cause, related_task: Option<&str>, calls: &[Row]) -> String {
    let clues = RouteClues { cause, related_task: related_task.map(str::to_owned), is_question: true };
    match resolve_call(&clues, calls) {
        MessageRoute::Call(call) => call.name.to_owned(),
        MessageRoute::OneOf(calls) => calls.iter().map(|call| call.name).collect::<Vec<_>>().join(" or "),
        MessageRoute::Host => "host".to_owned(),
        MessageRoute::Ambiguous => "nobody".to_owned(),
    }
}

// G3 X5 F106
#[tokio::test]
async fn first_matching_rule_decides_the_call_of_a_message() {
    let link = link_handlers(Arc::new(PingHandler), Arc::new(PingHandler));
    let [of_a, of_b, of_none] = [(); 3].map(|()| link.client.prepare_request().id());
    let (a, b) = (call("a", "ann"), call("b", "ben"));
    let (also_a, own) = (call("also a", "ann"), Row { principal: None, ..call("own", "") });
    let also_own = Row { name: "also own", ..own.clone() };
    let sent = |row: &Row, request| Row { request: Some(request), ..row.clone() };
    let task = |row: &Row, task| Row { task: Some(task), ..row.clone() };
    let two = [sent(&a, of_a), sent(&b, of_b)];
    let tasks = [task(&a, "1"), task(&b, "2")];
    let (shared, none) = (Cause::Connection, None);
    let quiet = |row: &Row| Row { may_ask: false, ..row.clone() };
    let asked = |row: &Row| Row { has_asked: true, ..row.clone() };
    let table: [Case<'_>; 26] = [
        // Rule 2.
        ("stream of the first call", Cause::Ours(of_a), none, &two, "a"),
        ("stream of the second call", Cause::Ours(of_b), none, &two, "b"),
        ("stream of a call of the host", Cause::Ours(of_a), none, &[sent(&own, of_a), b.clone()], "own"),
        ("stream before task", Cause::Ours(of_a), Some("2"), &[sent(&a, of_a), task(&b, "2")], "a"),
        ("stream of a request of no call", Cause::Ours(of_none), none, &two, "host"),
        ("stream of no call beside one call", Cause::Ours(of_none), none, &[sent(&a, of_a)], "host"),
        // Rule 4.
        ("task of the first call", shared, Some("1"), &tasks, "a"),
        ("task of the second call", shared, Some("2"), &tasks, "b"),
        ("task on the stream of another request", Cause::Ours(of_none), Some("2"), &tasks, "b"),
        ("unknown task", shared, Some("3"), &tasks, "nobody"),
        // Rule 5.
        ("one call", shared, none, std::slice::from_ref(&a), "a"),
        ("one call of the host", shared, none, std::slice::from_ref(&own), "own"),
        ("one call of which the request is known", shared, none, &[sent(&a, of_a)], "a"),
        // Rule 6.
        ("only the second may ask", shared, none, &[quiet(&a), b.clone()], "b"),
        (
            "two of one principal may ask",
            shared,
            none,
            &[a.clone(), quiet(&b), also_a.clone()],
            "a or also a",
        ),
        ("none may ask", shared, none, &[quiet(&a), quiet(&b)], "nobody"),
        ("calls of one principal, one may ask", shared, none, &[quiet(&a), also_a.clone()], "also a"),
        ("one of one principal has asked", shared, none, &[asked(&a), also_a.clone()], "also a"),
        ("all of one principal have asked", shared, none, &[asked(&a), asked(&also_a)], "a or also a"),
        ("one has asked, the other is of another principal", shared, none, &[asked(&a), b.clone()], "nobody"),
        // Rules 7 and 8.
        ("calls of one principal", shared, none, &[a.clone(), also_a.clone()], "a or also a"),
        ("calls of the host", shared, none, &[own.clone(), also_own], "own or also own"),
        // Rule 9.
        ("no call", shared, none, &[], "host"),
        // Rule 10.
        ("calls of two principals", shared, none, &two, "nobody"),
        ("two calls of one principal and one of another", shared, none, &[a.clone(), also_a, b], "nobody"),
        ("a call of a principal and one of the host", shared, none, &[a.clone(), own.clone()], "nobody"),
    ];
    for (case, cause, related_task, calls, expected) in table {
        assert_eq!(route(cause, related_task, calls), expected, "{case}");
    }
}

// G3 X8
#[test]
fn task_of_a_message_is_read_from_its_meta() {
    let task = |params: serde_json::Value| {
        RouteClues::from_message(Cause::Connection, Some(&RawJson::from_value(&params).unwrap())).related_task
    };
    let named = json!({ "message": "m", "_meta": { RELATED_TASK: { "taskId": "7" } } });
    assert_eq!(task(named).as_deref(), Some("7"));
    for params in [json!({}), json!({ "_meta": {} }), json!({ "_meta": { RELATED_TASK: { "taskId": 7 } } })] {
        assert_eq!(task(params.clone()), None, "{params}");
    }
    assert_eq!(RouteClues::from_message(Cause::Connection, None).related_task, None);
}
