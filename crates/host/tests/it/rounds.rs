//! Servers of the new era that request input before they answer (SEP-2322).

use mcparley::elicit::{ElicitationReply, UnansweredRequest};
use mcparley::permission::Consent;
use mcparley::{Call, CallError};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::alive::{Making, http, own, servers, stdio};
use crate::asking::{Answer, DONE, Inside, Person, host};

/// Wants a form filled in, and this to be told again.
macro_rules! wants {
    ($state:literal) => {
        concat!(
            r#"{"resultType":"input_required","requestState":"#,
            $state,
            r#","inputRequests":{"the key":{"method":"elicitation/create","params":{"message":"Who?","#,
            r#""requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"Ada"}}}}}}}"#
        )
    };
}

fn call() -> Call {
    Call::new("mcp__inside__it", json!({ "a": 1 }))
}

fn with(making: Making, person: &Person) -> crate::alive::Alive {
    making.start_as(|builder| builder.elicitor(person.clone()))
}

// X5 H31 B115
#[tokio::test]
async fn requested_input_and_exact_state_are_sent_in_the_repeated_request_only() {
    let (first, second) = (r#""\u00e9\/\ud83d\ude00 \\""#, r#""b""#);
    let answers = [wants!(r#""\u00e9\/\ud83d\ude00 \\""#), wants!(r#""b""#), DONE];
    let server = Inside::new("2026-07-28", answers.map(Answer::Result));
    let person = Person::agreeable();
    let (host, _world) = host(&server, Some(&person));
    assert_eq!(host.call(call()).await.unwrap().to_text(), "done");
    assert_eq!(host.call(call()).await.unwrap().to_text(), "done");
    let heard = server.heard();
    let given = r#""inputResponses":{"the key":{"action":"accept","content":{"name":"Ada"}}}"#;
    assert_eq!(heard.len(), 4);
    assert!(
        heard[1].contains(given) && heard[1].contains(&format!(r#""requestState":{first}"#)),
        "{}",
        heard[1]
    );
    assert!(
        heard[2].contains(given) && heard[2].contains(&format!(r#""requestState":{second}"#)),
        "{}",
        heard[2]
    );
    assert!(!heard[2].contains("ud83d"), "the state of an earlier round is gone");
    for unrelated in [&heard[0], &heard[3]] {
        assert!(!unrelated.contains("inputResponses") && !unrelated.contains("requestState"), "{unrelated}");
    }
    assert!(heard.iter().all(|params| params.contains(r#""arguments":{"a":1}"#)));
    assert_eq!(person.asked(), ["inside: Who? (form of 1)", "inside: Who? (form of 1)"]);
}

// B115
#[tokio::test]
async fn large_request_state_is_returned_whole() {
    let state = format!("\"{}\"", "x\\u0001".repeat(150_000));
    let wanted = format!(r#"{{"resultType":"input_required","requestState":{state}}}"#);
    let wanted: &'static str = Box::leak(wanted.into_boxed_str());
    let server = Inside::new("2026-07-28", [wanted, DONE].map(Answer::Result));
    let (host, _world) = host(&server, None);
    assert_eq!(host.call(call()).await.unwrap().to_text(), "done");
    let heard = server.heard();
    assert!(heard[1].contains(&format!(r#""requestState":{state}"#)), "of {} bytes", heard[1].len());
    assert!(!heard[1].contains("inputResponses"), "it wanted nothing else");
}

// X1 X5
#[tokio::test]
async fn a_resource_is_read_in_as_many_rounds_as_a_tool_is_called() {
    let contents = r#"{"contents":[{"uri":"a:b","text":"a note"}]}"#;
    let server = Inside::new("2026-07-28", [wants!(r#""s""#), contents].map(Answer::Result));
    let (host, _world) = host(&server, Some(&Person::agreeable()));
    host.wait_until_ready(crate::alive::LONG).await;
    let read = Call::new("ReadMcpResource", json!({ "server": "inside", "uri": "a:b" }));
    assert!(host.call(read).await.unwrap().to_text().contains("a note"));
    assert!(server.heard()[1].contains(r#""requestState":"s""#));
}

// B114 H31
#[tokio::test]
async fn server_that_always_requests_input_fails_after_three_rounds_on_every_transport() {
    let (_folder, log, _) = own("endless");
    let local = ScriptedStdio::new(&["wants:form"]).with_option("--versions", "2026-07-28").with_log(&log);
    let remote = HttpServer::start_with(&["wants:form"], &["--versions", "2026-07-28"]);
    let alive = with(servers([("local", stdio(&local)), ("remote", http(&remote))]), &Person::agreeable());
    for name in ["local", "remote"] {
        let error = alive.echo(name, "hi").await.unwrap_err();
        let why = UnansweredRequest::TooManyRounds { rounds: 3 };
        assert!(matches!(&error, CallError::Unanswered { why: it, .. } if *it == why), "{name}: {error}");
    }
    let calls: Vec<Value> = log_lines(&log)
        .iter()
        .filter(|line| line.text.contains("tools/call"))
        .map(|line| serde_json::from_str(&line.text).unwrap())
        .collect();
    assert_eq!((calls.len(), remote.stats()["post"]["tools/call"].as_u64()), (4, Some(4)));
    for pair in calls.windows(2) {
        assert_ne!(pair[0]["id"], pair[1]["id"]);
        // The server's record of the earlier request.
        assert_eq!(pair[1]["params"]["requestState"], format!("after {}", pair[0]["id"]));
    }
}

// X6
#[tokio::test]
async fn roots_are_given_and_unsupported_input_is_refused_by_name() {
    let entry = |kind: &str, log: &std::path::Path| {
        let scripted =
            ScriptedStdio::new(&[kind]).with_option("--versions", "2026-07-28").with_option("--times", "1");
        stdio(&scripted.with_log(log))
    };
    let (_folder, log, _) = own("wants");
    let alive = servers([("one", entry("wants:roots", &log))]).ready().await;
    alive.host.set_roots([alive.world.path("home/project")]);
    assert_eq!(alive.echo("one", "hi").await.unwrap(), "hi");
    let root = url(&alive.world.path("home/project"));
    let given = format!(r#""inputResponses":{{"it":{{"roots":[{{"uri":"{root}"}}]}}}}"#);
    assert!(log_lines(&log).iter().any(|line| line.text.contains(&given)), "{given}");
    for (kind, method) in [("wants:sampling", "sampling/createMessage"), ("wants:bogus", "bogus/method")] {
        let (_folder, log, _) = own("refused");
        let alive = servers([("one", entry(kind, &log))]).ready().await;
        let error = alive.echo("one", "hi").await.unwrap_err();
        let expected =
            format!("`mcp__one__echo` was not finished: it requested `{method}`, which is not offered");
        assert_eq!(error.to_string(), expected);
        let calls = log_lines(&log).iter().filter(|line| line.text.contains("tools/call")).count();
        assert_eq!(calls, 1, "{kind}");
    }
}

fn url(path: &std::path::Path) -> String {
    format!("file://{}", path.display())
}

// X5
#[tokio::test]
async fn without_a_user_the_server_gets_a_decline_and_may_still_answer() {
    let server = Inside::new("2026-07-28", [wants!(r#""s""#), DONE].map(Answer::Result));
    let (host, _world) = host(&server, None);
    assert_eq!(host.call(call()).await.unwrap().to_text(), "done");
    let heard = server.heard();
    assert!(heard[1].contains(r#""inputResponses":{"the key":{"action":"decline"}}"#), "{}", heard[1]);
    assert!(!heard[0].contains("elicitation"), "it was never told that somebody can be asked");
}

// X5
#[tokio::test]
async fn an_answer_that_does_not_fit_its_form_is_never_sent() {
    let server = Inside::new("2026-07-28", [wants!(r#""s""#), DONE].map(Answer::Result));
    let person = Person::new(|_| ElicitationReply::Accept(json!({ "name": 7, "canary": "canary" })));
    let (host, _world) = host(&server, Some(&person));
    let error = host.call(call().with_consent(Consent::Given)).await.unwrap_err();
    assert!(
        matches!(&error, CallError::Unanswered { why: UnansweredRequest::InvalidAnswer { .. }, .. }),
        "{error}"
    );
    assert_eq!(server.heard().len(), 1);
}

// X5 F07
#[tokio::test]
async fn canceling_a_call_withdraws_its_question() {
    let server = Inside::new("2026-07-28", [Answer::Result(wants!(r#""s""#))]);
    let person = Person::slow();
    let (host, _world) = host(&server, Some(&person));
    {
        let mut running = std::pin::pin!(host.call(call()));
        tokio::select! {
            result = &mut running => panic!("{result:?}"),
            () = person.came.notified() => {}
        }
    }
    person.withdrawn.notified().await;
    assert_eq!(server.heard().len(), 1);
}
