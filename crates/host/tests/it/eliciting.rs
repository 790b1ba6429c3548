//! Servers of the old era that ask a person, and pages that have to be visited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcparley::elicit::{Elicitation, Elicitor, Reply, Unanswered};
use mcparley::{Boxed, Call, CallError};
use mcparley_testkit::{HttpServer, Scripted, log_lines};
use serde_json::{Value, json};

use crate::alive::{http, own, servers, stdio};
use crate::asking::{Answer, DONE, Inside, Person, form, host};
use crate::together;

const ASKS: &str = "server-request:elicitation/create";

/// The answer of a server that gives back what it was told.
fn told(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["result"].take()
}

// X5
#[tokio::test]
async fn a_form_is_filled_in_with_its_defaults_in_every_old_version_and_on_both_transports() {
    for version in ["2025-06-18", "2025-11-25"] {
        let local = stdio(&Scripted::stdio(&[ASKS]).with("--versions", version));
        // The question comes on the stream of the call, or on the one for what servers say unasked.
        let [same, other] = ["sse", "json"]
            .map(|answer| HttpServer::start_with(&[ASKS], &["--versions", version, "--answer", answer]));
        let person = Person::agreeable();
        let alive = servers([("local", local), ("same", http(&same)), ("other", http(&other))])
            .start_as(|builder| builder.elicitor(person.clone()));
        let names = ["local", "same", "other"];
        for name in names {
            let content = json!({ "name": "Ada", "age": 36, "score": 0.5, "sure": true, "colour": "green" });
            let told = told(&alive.echo(name, "hi").await.unwrap());
            assert_eq!(told, json!({ "action": "accept", "content": content }), "{version} {name}");
        }
        assert_eq!(person.asked(), names.map(|name| format!("{name}: Who are you? (form of 5)")));
    }
}

// X5
#[tokio::test]
async fn servers_are_told_that_they_can_ask_only_if_somebody_is_there() {
    for version in ["2025-11-25", "2026-07-28"] {
        for is_there in [true, false] {
            let (_folder, log, _) = own("capabilities");
            let entry = stdio(&Scripted::stdio(&[ASKS]).with("--versions", version).logged(&log));
            let alive = servers([("one", entry)]).start_as(|builder| match is_there {
                true => builder.elicitor(Person::agreeable()),
                false => builder,
            });
            alive.reach("one").await;
            let lines = log_lines(&log);
            let says = lines.iter().any(|line| line.text.contains(r#""elicitation":{"form":{},"url":{}}"#));
            assert_eq!(says, is_there, "{version}");
            if !is_there && version == "2025-11-25" {
                assert_eq!(told(&alive.echo("one", "hi").await.unwrap()), json!({ "action": "decline" }));
            }
        }
    }
}

// X5
#[tokio::test]
async fn while_a_person_thinks_the_server_is_used_by_others() {
    let person = Person::slow();
    let entry = Scripted::stdio(&[ASKS]).with("--versions", "2025-11-25").with("--times", "1");
    let alive = servers([("one", stdio(&entry))]).start_as(|builder| builder.elicitor(person.clone()));
    let others = async {
        person.came.notified().await;
        let answered = alive.echo("one", "beside").await.unwrap();
        person.leave.as_ref().unwrap().add_permits(1);
        answered
    };
    let (asking, beside) = tokio::join!(alive.echo("one", "hi"), others);
    assert_eq!((told(&asking.unwrap())["action"].as_str(), beside.as_str()), (Some("accept"), "beside"));
}

// X5 N7 B110 B111
#[tokio::test]
async fn what_cannot_be_asked_is_told_to_the_server_and_nobody_is_bothered() {
    let with = |schema: Value| json!({ "message": "m", "requestedSchema": schema });
    let nested = json!({ "type": "object", "properties": { "a": { "type": "object" } } });
    let page = |url: &str| json!({ "mode": "url", "message": "m", "url": url, "elicitationId": "1" });
    for params in [
        with(nested),
        with(json!({ "type": "object" })),
        json!({ "message": 7 }),
        json!({ "mode": "telepathy", "message": "m" }),
        page("javascript:alert(1)"),
        page("https://user@evil.example/"),
    ] {
        let server = Inside::new("2025-11-25", [Answer::Asks("elicitation/create", params.clone())]);
        let person = Person::agreeable();
        let (host, _world) = host(&server, Some(&person));
        let outcome = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap();
        assert!(outcome.text().contains("error -32602"), "{params}: {}", outcome.text());
        assert!(person.asked().is_empty(), "{params}");
    }
    let server = Inside::new("2025-11-25", [Answer::Asks("elicitation/create", form())]);
    let person = Person::new(|_| Reply::Accept(json!({ "name": 7 })));
    let (host, _world) = host(&server, Some(&person));
    let outcome = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap();
    assert!(outcome.text().contains("error -32603"), "{}", outcome.text());
    assert_eq!(person.asked(), ["inside: Who are you? (form of 1)"], "clean");
}

/// Counts how many questions are open at the same time.
#[derive(Clone, Default)]
struct Counting {
    open: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Elicitor for Counting {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> Boxed<'q, Reply> {
        Box::pin(async {
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(open, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.open.fetch_sub(1, Ordering::SeqCst);
            Reply::Cancel
        })
    }
}

// X5 B114
#[tokio::test]
async fn a_server_with_many_questions_asks_one_after_the_other() {
    let person = Counting::default();
    let entry = stdio(&Scripted::stdio(&[ASKS]).with("--versions", "2025-11-25"));
    let alive = servers([("one", entry)]).start_as(|builder| builder.elicitor(person.clone()));
    let answers = together((0..20).map(|_| alive.echo("one", "hi"))).await;
    for answer in answers {
        assert_eq!(told(&answer.unwrap()), json!({ "action": "cancel" }));
    }
    assert_eq!(person.most.load(Ordering::SeqCst), 1);
}

// K3 B114
#[tokio::test]
async fn a_page_is_shown_and_the_call_repeated_at_most_three_times() {
    for (times, expected) in [("2", Some(3)), ("99", None)] {
        let (_folder, log, _) = own("pages");
        let entry = Scripted::stdio(&["url-required"]).with("--versions", "2025-11-25");
        let entry = stdio(&entry.with("--times", times).logged(&log));
        let person = Person::agreeable();
        let alive = servers([("one", entry)]).start_as(|builder| builder.elicitor(person.clone()));
        let answer = alive.echo("one", "hi").await;
        let calls = log_lines(&log).iter().filter(|line| line.text.contains("tools/call")).count();
        match expected {
            Some(expected) => assert_eq!((answer.unwrap().as_str(), calls), ("hi", expected)),
            None => {
                let error = answer.unwrap_err().to_string();
                assert_eq!(
                    error,
                    "`mcp__one__echo` was not finished: it still wants something after 3 rounds"
                );
                assert_eq!((calls, person.asked().len()), (4, 3));
            }
        }
        assert_eq!(person.asked()[0], "one: Please visit this page. (https://example.com/visit)");
    }
}

// K3 B110
#[tokio::test]
async fn a_page_that_nobody_visits_or_may_visit_ends_the_call() {
    let page = |url: &str| format!(r#"{{"elicitations":[{{"mode":"url","message":"m","url":"{url}"}}]}}"#);
    let refusing = Person::new(|_| Reply::Decline);
    for (url, person, expected) in [
        ("https://a.example/", None, Unanswered::Nobody),
        ("https://a.example/", Some(&refusing), Unanswered::Declined),
        (
            "data:text/html,x",
            Some(&Person::agreeable()),
            Unanswered::Unaskable {
                reason: "the address of the page is not one of `http` or `https`".into(),
            },
        ),
    ] {
        let data: &'static str = Box::leak(page(url).into_boxed_str());
        let server = Inside::new("2025-11-25", [Answer::Error(-32042, data)]);
        let (host, _world) = host(&server, person);
        let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
        assert!(matches!(&error, CallError::Unanswered { why, .. } if *why == expected), "{error}");
        assert_eq!(server.heard().len(), 1, "{url}");
    }
    let server = Inside::new("2025-11-25", [Answer::Error(-32042, "{}")]);
    let (host, _world) = host(&server, Some(&Person::agreeable()));
    let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
    assert!(matches!(error, CallError::Failed { .. }), "it names no page: {error}");
}

// K3
#[tokio::test]
async fn a_call_goes_on_when_its_server_tells_that_the_person_is_done() {
    let page =
        r#"{"elicitations":[{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"7"}]}"#;
    let server = Inside::new("2025-11-25", [Answer::Error(-32042, page), Answer::Result(DONE)]);
    let person = Person::silent();
    let (host, _world) = host(&server, Some(&person));
    let telling = async {
        person.came.notified().await;
        let complete = "notifications/elicitation/complete";
        server.tell(complete, json!({ "elicitationId": "another" })).await;
        assert_eq!(server.heard().len(), 1);
        server.tell(complete, json!({ "elicitationId": "7" })).await;
    };
    let (outcome, ()) = tokio::join!(host.call(Call::new("mcp__inside__it", json!({}))), telling);
    assert_eq!(outcome.unwrap().text(), "done");
}
