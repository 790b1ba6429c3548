//! A damaged reply fails its call at once, and nothing else.

use std::time::{Duration, Instant};

use mcparley_wire::{Damage, Failure};
use serde_json::json;

use crate::world::{Server, call, text};

/// Idle machines need a few milliseconds; a hang takes twenty seconds.
const AT_ONCE: Duration = Duration::from_secs(2);

async fn failure_of(script: &str) -> Failure {
    let connected = Server::scripted(&[script]).connect().await.unwrap();
    let start = Instant::now();
    let failure = match call(&connected, "echo", json!({"message": "x"})).await {
        // Some damage is inside the payload and shows when it is decoded.
        Ok(answer) => answer.decode::<serde_json::Value>().map(|value| value.to_string()).unwrap_err(),
        Err(failure) => failure,
    };
    assert!(start.elapsed() < AT_ONCE, "{script} took {:?}", start.elapsed());
    failure
}

// K7 B03 B05 B07 B08 B09
#[tokio::test]
async fn each_kind_of_damage_fails_its_call_at_once() {
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

// B08: an error without an id can only mean the one request that waits.
#[tokio::test]
async fn an_error_that_names_no_call_fails_the_only_one() {
    let failure = failure_of("null-id:error").await;
    assert!(matches!(failure, Failure::Answered(_)), "{failure:?}");
}

// B09 B10
#[tokio::test]
async fn what_is_no_message_is_skipped_and_counted() {
    for script in ["banner", "bom", "crlf", "batch"] {
        let connected = Server::scripted(&[script]).connect().await.unwrap();
        let answer = call(&connected, "echo", json!({"message": script})).await.unwrap();
        assert_eq!(text(&answer), script);
        assert_eq!(connected.link.strays().noise > 0, script == "banner", "{script}");
    }
}
