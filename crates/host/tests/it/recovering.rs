//! Retries of calls whose session or stream is lost.

use std::time::{Duration, Instant};

use mcparley::call::ExecutionStatus;
use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::pool::connection::ServerStatus;
use mcparley::{Call, CallError};
use mcparley_testkit::{Fault, FaultProxy, HttpServer};
use mcparley_wire::Failure;
use serde_json::{Value, json};

use crate::alive::{Alive, LONG, http, is_connected, scripted, servers, socket};

async fn reached(scripts: &[&str]) -> (HttpServer, Alive) {
    let server = HttpServer::start_with(scripts, &["--versions", "2025-11-25"]);
    let alive = servers([("remote", http(&server))]).ready().await;
    (server, alive)
}

fn sum() -> Value {
    json!({ "a": 40, "b": 2 })
}

// L7 F47
#[tokio::test]
async fn an_expired_session_is_reopened_and_the_call_repeated() {
    for script in ["expire1", "expire-400"] {
        let (server, alive) = reached(&[script]).await;
        assert_eq!(alive.call("remote", "add", sum()).await.unwrap().to_text(), "42", "{script}");
        assert_eq!(server.stats()["initialize"], 2, "{script}");
    }
}

// L7 F48
#[tokio::test]
async fn a_session_that_always_expires_is_reopened_once() {
    let (server, alive) = reached(&["expire-all"]).await;
    let error = alive.call("remote", "add", sum()).await.unwrap_err();
    assert!(matches!(error, CallError::Failed { executed: ExecutionStatus::No, .. }), "{error:?}");
    let stats = server.stats();
    assert_eq!((&stats["initialize"], &stats["post"]["tools/call"]), (&json!(2), &json!(2)));
}

// L7 F49
#[tokio::test]
async fn a_session_that_expires_under_a_hundred_calls_is_reopened_once_and_all_are_answered() {
    let (server, alive) = reached(&["expire1"]).await;
    let calls = (0..100).map(|number| alive.call("remote", "add", json!({ "a": number, "b": 1000 })));
    for (number, result) in crate::together(calls).await.into_iter().enumerate() {
        assert_eq!(result.unwrap().to_text(), (number + 1000).to_string());
    }
    let stats = server.stats();
    assert_eq!(stats["initialize"], 2);
    let executions = stats["executions"].as_object().unwrap();
    assert_eq!(executions.values().filter_map(Value::as_u64).sum::<u64>(), 100, "each once: {stats}");
}

// L5 L6
#[tokio::test]
async fn remote_server_that_dies_idle_is_noticed_and_reconnected() {
    let (server, alive) = reached(&[]).await;
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    drop(server);
    alive.until("remote", |status| matches!(status, ServerStatus::Pending { because: Some(_), .. })).await;
    let ServerStatus::Pending { because: Some(because), .. } = alive.status("remote") else { unreachable!() };
    assert!(because.contains("refused"), "{because}");
    let server = HttpServer::start_with(&[], &["--versions", "2025-11-25", "--port", &port]);
    alive.until("remote", is_connected).await;
    assert_eq!(alive.echo("remote", "again").await.unwrap(), "again");
    assert_eq!(server.stats()["initialize"], 1);
}

// L5: the new era has no stream that would tell.
#[tokio::test]
async fn three_broken_calls_cause_a_new_connection() {
    let server = HttpServer::start_with(&[], &["--versions", "2026-07-28"]);
    let proxy = FaultProxy::for_server(server.address());
    let entry = json!({ "type": "http", "url": format!("http://{}/mcp", proxy.address()) });
    let alive = servers([("remote", entry)]).ready().await;
    proxy.set_fault(Fault::Reset);
    for _ in 0..3 {
        alive.call("remote", "add", sum()).await.unwrap_err();
    }
    alive.until("remote", |status| !is_connected(status)).await;
    proxy.set_fault(Fault::None);
    // A server that could not be reached is left alone for a moment.
    let answer = async {
        loop {
            if let Ok(outcome) = alive.call("remote", "add", sum()).await {
                return outcome.to_text();
            }
        }
    };
    assert_eq!(tokio::time::timeout(LONG, answer).await.unwrap(), "42");
}

// F50
#[tokio::test]
async fn not_found_without_a_session_is_no_expiry() {
    let (server, alive) = reached(&["404"]).await;
    let error = alive.call("remote", "add", sum()).await.unwrap_err();
    assert!(matches!(error, CallError::Failed { .. }), "{error:?}");
    assert_eq!(server.stats()["initialize"], 1);
}

// F39 K6
#[tokio::test]
async fn stream_that_ends_without_reply_is_retried_only_if_idempotent() {
    let server = HttpServer::start_with(&["sse-cut"], &["--versions", "2026-07-28", "--times", "1"]);
    let alive = servers([("remote", http(&server))]).ready().await;
    assert_eq!(alive.echo("remote", "hi").await.unwrap(), "hi");
    assert_eq!(server.stats()["post"]["tools/call"], 2);

    let server = HttpServer::start_with(&["sse-cut"], &["--versions", "2026-07-28", "--times", "1"]);
    let alive = servers([("remote", http(&server))]).ready().await;
    let begun = Instant::now();
    let error = alive.call("remote", "add", sum()).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(server.stats()["post"]["tools/call"], 1);
}

// F58 L6
#[tokio::test]
async fn sse_server_is_reconnected_at_the_endpoint_it_then_names() {
    let server = HttpServer::start_with(&["legacy-sse-only", "sse-cut"], &["--times", "1"]);
    let entry = json!({ "type": "sse", "url": server.url() });
    let alive = servers([("remote", entry)]).ready().await;
    assert_eq!(alive.echo("remote", "hi").await.unwrap(), "hi");
    let stats = server.stats();
    assert_eq!((&stats["get"], &stats["post"]["tools/call"]), (&json!(2), &json!(2)));
}

// F52 F53
#[tokio::test]
async fn retry_after_is_obeyed_for_idempotent_calls() {
    for status in ["429", "503"] {
        let script = format!("status:{status}");
        let scripts = [script.as_str(), "retry-after:1"];
        let server = HttpServer::start_with(&scripts, &["--times", "1"]);
        let alive = servers([("remote", http(&server))]).ready().await;
        let begun = Instant::now();
        assert_eq!(alive.echo("remote", "hi").await.unwrap(), "hi", "{status}");
        assert!(begun.elapsed() >= Duration::from_secs(1), "{status}");
        assert_eq!(server.stats()["post"]["tools/call"], 2, "{status}");

        let (server, alive) = reached(&scripts).await;
        let error = alive.call("remote", "add", sum()).await.unwrap_err();
        // Too many requests: the server has not looked at it.
        assert_eq!(error.is_outcome_unknown(), status == "503", "{error}");
        assert_eq!(server.stats()["post"]["tools/call"], 1, "{status}");
        alive.echo("remote", "hi").await.unwrap_err();
        assert_eq!(server.stats()["post"]["tools/call"], 3, "{status}: once more and no oftener");
    }
}

// F52 F86: dates of long ago and far away, and values that are no time at all.
#[tokio::test]
async fn retry_after_beyond_the_limit_is_not_waited_for() {
    let far = "status:503 retry-after:Fri, 01 Jan 2100 00:00:00 GMT";
    for (scripts, posts) in [
        (far, 1),
        ("status:503 retry-after:9999999", 1),
        ("status:503 retry-after:soon", 1),
        ("status:503 retry-after:-5", 1),
        ("status:500 retry-after:1", 1),
        ("status:503 retry-after:Thu, 01 Jan 1970 00:00:00 GMT", 2),
    ] {
        let (status, retry_after) = scripts.split_once(' ').unwrap();
        let (server, alive) = reached(&[status, retry_after]).await;
        let begun = Instant::now();
        let error = alive.echo("remote", "hi").await.unwrap_err();
        assert!(matches!(error, CallError::Failed { failure: Failure::Status { .. }, .. }), "{error:?}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{scripts}: {:?}", begun.elapsed());
        assert_eq!(server.stats()["post"]["tools/call"], posts, "{scripts}");
    }
}

// F52 K2
#[tokio::test]
async fn retry_after_pause_counts_against_the_deadline() {
    let (server, alive) = reached(&["retry-after:2"]).await;
    let echo = || Call::on_server("remote", "echo", json!({ "message": "hi" })).with_consent(Consent::Given);
    let begun = Instant::now();
    let error = alive.host.call(echo().with_limit(Duration::from_secs(2))).await.unwrap_err();
    assert!(matches!(error, CallError::Failed { failure: Failure::Status { .. }, .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(1), "there is no use in waiting");
    assert_eq!(server.stats()["post"]["tools/call"], 1);
}

// H26
#[tokio::test]
async fn tool_with_changed_header_parameters_is_listed_and_called_again() {
    let options = ["--versions", "2026-07-28", "--on", "tools/list", "--times", "1"];
    let server = HttpServer::start_with(&["param-headers", "stale-marks"], &options);
    let alive = servers([("remote", http(&server))]).ready().await;
    let arguments = json!({ "region": "us-west1", "deep": { "level": 3 } });
    alive.call("remote", "locate", arguments).await.unwrap();
    let posts = &server.stats()["post"];
    assert_eq!((&posts["tools/list"], &posts["tools/call"]), (&json!(2), &json!(2)));
}

// F37 F55
#[tokio::test]
async fn a_cut_body_and_a_web_page_are_errors_at_once() {
    for (script, expected) in [("cut", ""), ("html", "neither JSON nor an event stream")] {
        let (_server, alive) = reached(&[script]).await;
        let begun = Instant::now();
        let error = alive.call("remote", "add", sum()).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{script}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{script}");
    }
}

// T4 F57 K6
#[tokio::test]
async fn a_socket_that_ends_or_breaks_the_rules_is_opened_again() {
    for script in ["ws-close:1006", "ws-close:1011", "ws-reply:binary", "huge:17", "ws-endless"] {
        let server = HttpServer::start_with(&[script], &["--times", "1"]);
        let alive = servers([("remote", socket(&server))]).ready().await;
        let begun = Instant::now();
        let error = alive.call("remote", "add", sum()).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{script}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{script}: {:?}", begun.elapsed());
        assert_eq!(alive.call("remote", "add", sum()).await.unwrap().to_text(), "42", "{script}");
        let stats = server.stats();
        assert_eq!((&stats["sockets"], &stats["post"]["tools/call"]), (&json!(2), &json!(2)), "{script}");
    }
}

// K7
#[tokio::test]
async fn a_damaged_reply_fails_its_call_at_once() {
    for script in
        ["not-json", "bad-utf8", "result-and-error", "duplicate-id", "deep", "wrong-shape", "null-id"]
    {
        let alive = servers([("liar", crate::alive::scripted(&[script]))]).ready().await;
        let begun = Instant::now();
        let error = alive.call("liar", "add", sum()).await.unwrap_err();
        assert!(matches!(error, CallError::Failed { .. }), "{script}: {error:?}");
        assert!(begun.elapsed() < Duration::from_secs(1), "{script}: {:?}", begun.elapsed());
    }
}

// L11 L5
#[tokio::test]
async fn a_server_whose_first_list_is_lost_on_the_way_was_not_reached_and_is_tried_again() {
    let server =
        HttpServer::start_with(&["cut"], &["--versions", "2025-11-25", "--on", "tools/list", "--times", "1"]);
    let alive = servers([("cut", http(&server))]).ready().await;
    assert!(!is_connected(&alive.status("cut")));
    let readiness = alive.host.connect_required(&[ServerName::new("cut")], LONG).await;
    assert!(readiness.settled && is_connected(&readiness.servers[0].state.status));
    assert_eq!(alive.echo("cut", "hi").await.unwrap(), "hi");
}

// K2
#[tokio::test]
async fn the_limit_of_a_call_holds_while_its_server_is_being_reached() {
    let alive = servers([("hangs", scripted(&["hang-start"]))]).start_with(StartPolicy::OnDemand).start();
    let begun = Instant::now();
    let call = Call::on_server("hangs", "echo", json!({ "message": "hi" })).with_consent(Consent::Given);
    let error = alive.host.call(call.with_limit(Duration::from_millis(300))).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(!error.is_outcome_unknown(), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
