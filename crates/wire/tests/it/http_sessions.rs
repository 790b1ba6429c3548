//! Session expiry, and errors that only look like it.

use mcparley_testkit::HttpServer;
use mcparley_wire::Failure;
use serde_json::json;

use crate::http_world::old;
use crate::world::{call, text};

// F47 F48 L7
#[tokio::test]
async fn expired_session_is_reported_and_a_new_one_works() {
    for (script, lets) in [("expire1", true), ("expire-400", true), ("expire-all", false)] {
        let server = HttpServer::start(&[script]);
        let connected = old(&server).await;
        for _ in 0..2 {
            let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
            assert!(matches!(error, Failure::SessionExpired), "{script}: {error:?}");
        }
        connected.link.stop().await;
        assert_eq!(server.stats()["delete"], 0, "there is nothing to say goodbye to");
        let connected = old(&server).await;
        let again = call(&connected, "echo", json!({"message": "x"})).await;
        match again {
            Ok(reply) => assert!(lets && text(&reply) == "x", "{script}"),
            Err(error) => assert!(!lets && matches!(error, Failure::SessionExpired), "{script}: {error:?}"),
        }
    }
}

// F49
#[tokio::test]
async fn session_expiry_is_reported_to_each_concurrent_call() {
    let server = HttpServer::start(&["expire1"]);
    let connected = old(&server).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let session = connected.session.clone();
        calls.spawn(async move {
            let params = mcparley_wire::RequestParams::new()
                .with_member("name", &"echo")
                .with_member("arguments", &json!({"message": "x"}));
            session.call("tools/call", params, mcparley_wire::peer::PeerCallOptions::default()).await
        });
    }
    let outcomes = calls.join_all().await;
    let expired = outcomes.iter().filter(|outcome| matches!(outcome, Err(Failure::SessionExpired))).count();
    let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(expired + done, 100);
    assert!(expired >= 1);
    assert_eq!(server.stats()["executions"].as_object().unwrap().len(), done);
}

// F50
#[tokio::test]
async fn not_found_without_a_session_is_no_expiry() {
    let server = HttpServer::start(&["404"]);
    let connected = old(&server).await;
    let error = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(matches!(&error, Failure::Status { code: 404, .. }), "{error:?}");
}
