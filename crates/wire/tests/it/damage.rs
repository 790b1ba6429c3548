//! A malformed response fails its call at once, and only that.

use std::time::{Duration, Instant};

use mcparley_testkit::{HttpServer, ScriptedStdio};
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{Damage, Failure, RequestParams};
use serde_json::json;

use crate::world::{Server, call, text};

/// Idle machines need a few milliseconds; a hang takes twenty seconds.
const AT_ONCE: Duration = Duration::from_secs(2);

async fn failure_of(script: &str) -> Failure {
    let connected = Server::scripted(&[script]).connect().await.unwrap();
    let start = Instant::now();
    let failure = match call(&connected, "echo", json!({"message": "x"})).await {
        // Some malformed payloads are noticed only when they are decoded.
        Ok(answer) => answer.decode::<serde_json::Value>().map(|value| value.to_string()).unwrap_err().into(),
        Err(failure) => failure,
    };
    assert!(start.elapsed() < AT_ONCE, "{script} took {:?}", start.elapsed());
    failure
}

// K7 B03 B05 B07 B08 B09
#[tokio::test]
async fn each_kind_of_malformed_response_fails_its_call_at_once() {
    for (script, expected) in [
        ("not-json", Damage::NotJson),
        ("bad-utf8", Damage::NotJson),
        ("lone-surrogate", Damage::Shape),
        ("result-and-error", Damage::Both),
        ("neither", Damage::Neither),
        ("no-jsonrpc", Damage::Version),
        ("jsonrpc-1", Damage::Version),
        ("jsonrpc-number", Damage::Version),
        ("duplicate-id", Damage::Twice("id")),
        ("duplicate-result", Damage::Twice("result")),
        ("case-keys", Damage::Neither),
        ("deep:129", Damage::Shape),
        ("deep:100000", Damage::Shape),
        ("number-bombs:nan", Damage::NotJson),
    ] {
        let failure = failure_of(script).await;
        assert!(matches!(&failure, Failure::Damaged(damage) if *damage == expected), "{script}: {failure:?}");
    }
}

// B01 B02 K7
#[tokio::test]
async fn an_oversized_reply_fails_its_call_and_the_next_one_works() {
    for script in ["huge:17", "huge-id-last:17"] {
        let connected = Server::scripted(&[script]).connect().await.unwrap();
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(matches!(failure, Failure::TooLarge { .. }), "{script}: {failure:?}");
        let tools = connected.session.peer().call("tools/list", None, Default::default()).await;
        assert!(tools.is_ok(), "{script}: the connection survives");
    }
}

// B01
#[tokio::test]
async fn exactly_the_limit_is_taken_and_one_byte_more_is_not_on_every_transport() {
    const LIMIT: u64 = 16 * 1024 * 1024;
    for (size, is_taken) in [(LIMIT, true), (LIMIT + 1, false)] {
        let outcomes = |script: String| async move {
            let stdio = Server::scripted(&[&script]).connect().await.unwrap();
            let mut outcomes = vec![("stdio", call(&stdio, "echo", json!({"message": "x"})).await)];
            for (name, answer) in [("json", "json"), ("events", "sse")] {
                let server = HttpServer::start_with(&[&script], &["--answer", answer]);
                let connected = crate::http_world::old(&server).await;
                outcomes.push((name, call(&connected, "echo", json!({"message": "x"})).await));
            }
            let server = HttpServer::start(&["legacy-sse-only", &script]);
            let connected = crate::sse::legacy(&server).await;
            outcomes.push(("legacy", call(&connected, "echo", json!({"message": "x"})).await));
            outcomes
        };
        for script in [format!("huge:{size}b"), format!("huge-id-last:{size}b")] {
            let outcomes = outcomes(script.clone()).await;
            assert_eq!(outcomes.len(), 4, "{script}");
            for (transport, outcome) in outcomes {
                match outcome {
                    Ok(_) => assert!(is_taken, "{script} over {transport}"),
                    Err(Failure::TooLarge { .. }) => assert!(!is_taken, "{script} over {transport}"),
                    Err(failure) => unreachable!("{script} over {transport}: {failure:?}"),
                }
            }
        }
    }
}

// B01
#[tokio::test]
async fn a_reply_just_below_the_limit_arrives() {
    let connected = Server::scripted(&[]).connect().await.unwrap();
    let answer = call(&connected, "big", json!({"bytes": 15 * 1024 * 1024})).await.unwrap();
    assert_eq!(text(&answer).len(), 15 * 1024 * 1024);
}

// B08
#[tokio::test]
async fn an_id_in_another_form_is_the_same_id() {
    for script in ["string-id", "float-id", "twice"] {
        let connected = Server::scripted(&[script]).connect().await.unwrap();
        for message in ["a", "b"] {
            let answer = call(&connected, "echo", json!({"message": message})).await.unwrap();
            assert_eq!(text(&answer), message, "{script}: a second answer changes nothing");
        }
    }
}

// B08
#[tokio::test]
async fn unclaimed_response_is_dropped_and_counted_and_the_call_keeps_waiting() {
    for script in ["unknown-id", "bool-id", "object-id", "null-id:result"] {
        let scripted = ScriptedStdio::new(&[script]).with_option("--times", "1");
        let connected = Server::new(scripted).connect().await.unwrap();
        let params = RequestParams::new()
            .with_member("name", &"echo")
            .with_member("arguments", &json!({"message": "x"}));
        let options =
            PeerCallOptions { limit: Some(Duration::from_millis(500)), ..PeerCallOptions::default() };
        let waiting = connected.session.call("tools/call", params, options);
        let next = async {
            // When this is answered, the unclaimed response has arrived.
            let tools = connected.session.peer().call("tools/list", None, PeerCallOptions::default());
            tools.await.unwrap();
        };
        let (failure, ()) = tokio::join!(waiting, next);
        assert!(matches!(failure, Err(Failure::TimedOut { .. })), "{script}: {failure:?}");
        assert_eq!(connected.link.stray_counts().unclaimed, 1, "{script}");
        assert_eq!(text(&call(&connected, "echo", json!({"message": "on"})).await.unwrap()), "on");
    }
}

// B04
#[tokio::test]
async fn numbers_beyond_machine_precision_are_preserved() {
    let connected = Server::scripted(&["number-bombs:valid"]).connect().await.unwrap();
    let answer = call(&connected, "echo", json!({"message": "x"})).await.unwrap();
    let bombs = answer.member("structuredContent").unwrap();
    let written = |name: &str| String::from_utf8(bombs.member(name).unwrap().as_bytes().to_vec()).unwrap();
    assert_eq!((written("exponent").as_str(), written("zero").as_str()), ("1e999999", "-0"));
    assert_eq!(written("digits"), "9".repeat(100_000));
}

// B08: an error without an id can only be for the one request that waits.
#[tokio::test]
async fn an_error_that_names_no_call_fails_the_only_one() {
    let failure = failure_of("null-id:error").await;
    assert!(matches!(failure, Failure::ErrorResponse(_)), "{failure:?}");
}

// B09 B10
#[tokio::test]
async fn noise_lines_are_skipped_and_counted() {
    for script in ["banner", "bom", "crlf", "batch"] {
        let connected = Server::scripted(&[script]).connect().await.unwrap();
        let answer = call(&connected, "echo", json!({"message": script})).await.unwrap();
        assert_eq!(text(&answer), script);
        assert_eq!(connected.link.stray_counts().noise > 0, script == "banner", "{script}");
        let first = connected.link.stray_record().first_line();
        let first = first.as_ref().map(mcparley_model::text::Untrusted::raw);
        assert_eq!(first, (script == "banner").then_some("Starting server v1.2.3"), "{script}");
    }
}

// F103 T1
#[tokio::test]
async fn log_lines_that_look_like_json_are_skipped_with_one_call_open_and_with_many() {
    /// Lines of one burst; the server writes one before its first message, and two for every response.
    const OUTBURST: u64 = 15;
    let connected = Server::scripted(&["chatter"]).connect().await.unwrap();
    let answer = call(&connected, "echo", json!({"message": "one"})).await.unwrap();
    assert_eq!(text(&answer), "one");
    let before = connected.link.stray_counts().noise;
    assert!(before >= OUTBURST * 4, "{before}");

    let many = (0..64).map(|number| call(&connected, "echo", json!({ "message": number.to_string() })));
    let answers = futures_util::future::join_all(many).await;
    let texts: Vec<String> = answers.iter().map(|answer| text(answer.as_ref().unwrap())).collect();
    assert_eq!(texts, (0..64).map(|number| number.to_string()).collect::<Vec<_>>());
    // Lines after a response may still be on their way: they have arrived when later calls are answered.
    let counted = || connected.link.stray_counts().noise - before;
    let mut calls = 64;
    while counted() < OUTBURST * (2 * calls - 1) && calls < 164 {
        call(&connected, "echo", json!({"message": "again"})).await.unwrap();
        calls += 1;
    }
    assert!(counted() >= OUTBURST * (2 * calls - 1), "{} lines in {calls} calls", counted());
    assert_eq!(connected.link.stray_counts().unclaimed, 0);
    let first = connected.link.stray_record().first_line();
    assert_eq!(first.as_ref().map(mcparley_model::text::Untrusted::raw), Some("[INFO] started"));
}
