//! Servers of the old era that ask a person, and pages that have to be visited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcparley::elicit::{Elicitation, ElicitationPage, ElicitationReply, Elicitor, UnansweredRequest};
use mcparley::{BoxedFuture, Call, CallError};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::alive::{http, own, servers, stdio};
use crate::asking::{Answer, DONE, Inside, Person, form, host};
use crate::together;

const ASKS: &str = "server-request:elicitation/create";

/// The answer of a server that returns the reply it got.
fn told(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()["result"].take()
}

// X5
#[tokio::test]
async fn a_form_is_filled_in_with_its_defaults_in_every_old_version_and_on_both_transports() {
    for version in ["2025-06-18", "2025-11-25"] {
        let local = stdio(&ScriptedStdio::new(&[ASKS]).with_option("--versions", version));
        // The question comes on the stream of the call, or on the stream for server messages.
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
async fn elicitation_is_declared_only_with_an_elicitor() {
    for version in ["2025-11-25", "2026-07-28"] {
        for is_there in [true, false] {
            let (_folder, log, _) = own("capabilities");
            let entry = stdio(&ScriptedStdio::new(&[ASKS]).with_option("--versions", version).with_log(&log));
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
async fn server_serves_other_calls_while_the_user_thinks() {
    let person = Person::slow();
    let entry =
        ScriptedStdio::new(&[ASKS]).with_option("--versions", "2025-11-25").with_option("--times", "1");
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
async fn invalid_question_is_rejected_without_asking_the_user() {
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
        assert!(outcome.to_text().contains("error -32602"), "{params}: {}", outcome.to_text());
        assert!(person.asked().is_empty(), "{params}");
    }
    let server = Inside::new("2025-11-25", [Answer::Asks("elicitation/create", form())]);
    let person = Person::new(|_| ElicitationReply::Accept(json!({ "name": 7 })));
    let (host, _world) = host(&server, Some(&person));
    let outcome = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap();
    assert!(outcome.to_text().contains("error -32603"), "{}", outcome.to_text());
    assert_eq!(person.asked(), ["inside: Who are you? (form of 1)"], "clean");
}

/// Counts how many questions are open at the same time.
#[derive(Clone, Default)]
struct Counting {
    open: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Elicitor for Counting {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(async {
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(open, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.open.fetch_sub(1, Ordering::SeqCst);
            ElicitationReply::Cancel
        })
    }
}

// X5 B114
#[tokio::test]
async fn a_server_with_many_questions_asks_one_after_the_other() {
    let person = Counting::default();
    let entry = stdio(&ScriptedStdio::new(&[ASKS]).with_option("--versions", "2025-11-25"));
    let alive = servers([("one", entry)]).start_as(|builder| builder.elicitor(person.clone()));
    let answers = together((0..20).map(|_| alive.echo("one", "hi"))).await;
    for answer in answers {
        assert_eq!(told(&answer.unwrap()), json!({ "action": "cancel" }));
    }
    assert_eq!(person.most.load(Ordering::SeqCst), 1);
}

/// The error of a call that needs a page, with this address.
fn page_required(url: &str) -> Answer {
    let page = json!({ "mode": "url", "message": "m", "url": url, "elicitationId": "7" });
    Answer::Error(-32042, Box::leak(json!({ "elicitations": [page] }).to_string().into_boxed_str()))
}

// K3 F107 B112
#[tokio::test(start_paused = true)]
async fn a_page_is_shown_once_and_the_call_repeated_until_its_server_stops_asking() {
    let page = || page_required("https://a.example/");
    let answers = (0..5).map(|_| page()).chain([Answer::Result(DONE)]);
    let (server, person) = (Inside::new("2025-11-25", answers), Person::silent());
    let (host, _world) = host(&server, Some(&person));
    host.wait_until_ready(std::time::Duration::from_secs(5)).await;
    let begun = tokio::time::Instant::now();
    let outcome = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap();
    assert_eq!((outcome.to_text().as_str(), server.heard().len()), ("done", 6));
    assert_eq!(person.asked(), ["inside: m (https://a.example/)"], "one page, one question");
    // At once after the consent, then after 1, 2, 4 and 8 seconds.
    assert_eq!(begun.elapsed().as_secs(), 15);
}

// K3 F107
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_the_same_page_for_ever_is_given_up_after_five_minutes() {
    let server = Inside::new("2025-11-25", [page_required("https://a.example/")]);
    let (host, _world) = host(&server, Some(&Person::agreeable()));
    host.wait_until_ready(std::time::Duration::from_secs(5)).await;
    let begun = tokio::time::Instant::now();
    let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
    let expected = UnansweredRequest::PageUnfinished { url: "https://a.example/".into() };
    assert!(matches!(&error, CallError::Unanswered { why, .. } if *why == expected), "{error}");
    assert!(error.to_string().contains("5 minutes"), "{error}");
    assert!((300..330).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

// K3 F107
#[tokio::test(start_paused = true)]
async fn a_call_shows_at_most_three_different_pages() {
    let answers = (1..9).map(|number| page_required(&format!("https://a.example/{number}")));
    let (server, person) = (Inside::new("2025-11-25", answers), Person::silent());
    let (host, _world) = host(&server, Some(&person));
    let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
    assert!(
        matches!(error, CallError::Unanswered { why: UnansweredRequest::TooManyRounds { rounds: 3 }, .. }),
        "{error}"
    );
    assert_eq!((person.asked().len(), server.heard().len()), (3, 4));
}

// B112
#[tokio::test]
async fn a_call_whose_server_asks_an_eleventh_question_ends_with_an_error() {
    let server = Inside::new("2025-11-25", [Answer::AsksForEver("elicitation/create", form())]);
    let person = Person::agreeable();
    let (host, _world) = host(&server, Some(&person));
    let error = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap_err();
    let expected = UnansweredRequest::TooManyQuestions { limit: 10 };
    assert!(matches!(&error, CallError::Unanswered { why, .. } if *why == expected), "{error}");
    assert_eq!(person.asked().len(), 10);
}

/// Never answers, and counts the questions that are open.
#[derive(Clone, Default)]
struct Absent(Arc<AtomicUsize>);

impl Elicitor for Absent {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        assert!(!question.is_call_known, "two calls are in flight");
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::pending())
    }
}

// G3 F106
#[tokio::test(start_paused = true)]
async fn a_question_of_an_unknown_call_ends_after_five_minutes_and_the_next_one_is_asked() {
    let server = Inside::new("2025-11-25", [Answer::Asks("elicitation/create", form())]);
    let absent = Absent::default();
    let (host, _world) = crate::asking::host_as(&server, |builder| builder.elicitor(absent.clone()));
    host.wait_until_ready(std::time::Duration::from_secs(5)).await;
    let begun = tokio::time::Instant::now();
    let call = || host.call(Call::new("mcp__inside__it", json!({})));
    let (first, second) = tokio::join!(call(), call());
    for outcome in [first, second] {
        let text = outcome.unwrap().to_text();
        assert!(text.contains("did not answer within 5 minutes"), "{text}");
    }
    assert_eq!((absent.0.load(Ordering::SeqCst), begun.elapsed().as_secs()), (2, 600));
}

// K3 B110
#[tokio::test]
async fn page_that_is_declined_or_forbidden_ends_the_call() {
    let page = |url: &str| format!(r#"{{"elicitations":[{{"mode":"url","message":"m","url":"{url}"}}]}}"#);
    let refusing = Person::new(|_| ElicitationReply::Decline);
    for (url, person, expected) in [
        ("https://a.example/", None, UnansweredRequest::NoElicitor { url: "https://a.example/".into() }),
        ("https://a.example/", Some(&refusing), UnansweredRequest::Declined),
        (
            "data:text/html,x",
            Some(&Person::agreeable()),
            UnansweredRequest::InvalidRequest {
                reason: "the URL of the page is not `http` or `https`".into(),
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
#[tokio::test(start_paused = true)]
async fn call_goes_on_when_its_server_reports_the_page_as_done() {
    let page =
        r#"{"elicitations":[{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"7"}]}"#;
    let server = Inside::new(
        "2025-11-25",
        [Answer::Error(-32042, page), Answer::Error(-32042, page), Answer::Result(DONE)],
    );
    let person = Person::silent();
    let (host, _world) = host(&server, Some(&person));
    host.wait_until_ready(std::time::Duration::from_secs(5)).await;
    let telling = async {
        person.came.notified().await;
        let complete = "notifications/elicitation/complete";
        server.tell(complete, json!({ "elicitationId": "another" })).await;
        server.tell(complete, json!({ "elicitationId": "7" })).await;
    };
    let begun = tokio::time::Instant::now();
    let (outcome, ()) = tokio::join!(host.call(Call::new("mcp__inside__it", json!({}))), telling);
    assert_eq!(outcome.unwrap().to_text(), "done");
    assert_eq!(begun.elapsed().as_millis(), 0, "no pause was needed");
}

/// Agrees to visit pages, and needs some seconds to say that a visit is done.
struct SlowVisitor;

impl Elicitor for SlowVisitor {
    fn ask<'q>(&'q self, _question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(std::future::ready(ElicitationReply::Accept(json!({}))))
    }

    fn wait_for_visit<'q>(&'q self, _page: &'q ElicitationPage) -> BoxedFuture<'q, ()> {
        Box::pin(tokio::time::sleep(std::time::Duration::from_secs(5)))
    }
}

// K3: the user can report a visit as done in any pause, not only in the first.
#[tokio::test(start_paused = true)]
async fn visit_can_be_reported_as_done_in_a_later_pause() {
    let answers = (0..5).map(|_| page_required("https://a.example/")).chain([Answer::Result(DONE)]);
    let server = Inside::new("2025-11-25", answers);
    let (host, _world) = crate::asking::host_as(&server, |builder| builder.elicitor(SlowVisitor));
    host.wait_until_ready(std::time::Duration::from_secs(5)).await;
    let begun = tokio::time::Instant::now();
    let outcome = host.call(Call::new("mcp__inside__it", json!({}))).await.unwrap();
    assert_eq!(outcome.to_text(), "done");
    // Pauses of 1, 2 and 4 seconds, then 5 of the 8 seconds.
    assert_eq!(begun.elapsed().as_secs(), 12);
}
