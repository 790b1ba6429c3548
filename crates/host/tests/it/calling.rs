//! One call: its arguments, its permission, its limits.

use std::time::{Duration, Instant};

use mcparley::model::permission::PermissionMode;
use mcparley::permission::Consent;
use mcparley::{Approver, Call, CallError, PermissionAnswer, PermissionQuestion};
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::json;

use crate::alive::{http, own, scripted, servers, stdio, with};

// K1 R1
#[tokio::test]
async fn a_tool_is_called_in_every_version_of_the_protocol_on_both_transports() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let server = HttpServer::start_with(&[], &["--versions", version]);
        let local = stdio(&ScriptedStdio::new(&[]).with_option("--versions", version));
        let alive = servers([("local", local), ("remote", http(&server))]).ready().await;
        for name in ["local", "remote"] {
            assert_eq!(alive.echo(name, "hé\u{1f600}").await.unwrap(), "hé\u{1f600}", "{version} {name}");
            let failed = alive.call(name, "fail", json!({})).await.unwrap();
            assert!(failed.is_error, "{version} {name}");
        }
    }
}

// N8
#[tokio::test]
async fn arguments_that_do_not_fit_never_reach_the_server() {
    let (_folder, log, _) = own("arguments");
    let alive = servers([("one", stdio(&ScriptedStdio::new(&[]).with_log(&log)))]).ready().await;
    for arguments in [json!({}), json!({ "message": 7 }), json!(["hi"]), json!("hi")] {
        let error = alive.call("one", "echo", arguments.clone()).await.unwrap_err();
        assert!(matches!(error, CallError::Arguments { .. }), "{arguments}: {error}");
    }
    assert!(!log_lines(&log).iter().any(|line| line.text.contains("tools/call")));
    let error = alive.call("one", "echo", json!({ "message": 7 })).await.unwrap_err();
    assert!(error.to_string().contains("/message"), "{error}");
}

// K1
#[tokio::test]
async fn unknown_tool_or_server_error_names_similar_ones() {
    let alive = servers([("one", scripted(&[])), ("bad", scripted(&["exit-start"]))]).ready().await;
    let error = alive.call("one", "ecko", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no tool `ecko`: server `one` does not offer it");
    assert_eq!(error.hint().unwrap(), "did you mean `echo`?");
    let error = alive.call("onne", "echo", json!({})).await.unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `one`?");
    let error = alive.host.call(Call::new("mcp__one__ecko", json!({}))).await.unwrap_err();
    assert!(error.hint().unwrap().starts_with("did you mean `mcp__one__echo`"), "{:?}", error.hint());
    // The tool may be one of a server that is not there.
    assert!(error.to_string().contains("server `bad`"), "{error}");
}

// P1
#[tokio::test]
async fn without_a_user_and_without_a_rule_no_tool_is_called() {
    let (_folder, log, _) = own("nobody");
    let alive = servers([("one", stdio(&ScriptedStdio::new(&[]).with_log(&log)))]).ready().await;
    let error = alive.host.call(Call::new("mcp__one__echo", json!({ "message": "hi" }))).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");
    assert!(error.to_string().contains("there is no user to ask"), "{error}");
    assert!(error.hint().unwrap().contains("the user can allow it"));
    assert!(!log_lines(&log).iter().any(|line| line.text.contains("tools/call")));
}

// P2 P3 U2a
#[tokio::test]
async fn deny_beats_consent_and_consent_beats_ask() {
    let entries = || [("one", scripted(&[]))];
    let hi = || json!({ "message": "hi" });
    let allowed = servers(entries()).allow("mcp__one__echo").ready().await;
    assert!(allowed.host.call(Call::new("mcp__one__echo", hi())).await.is_ok());
    let error = allowed.host.call(Call::new("mcp__one__add", json!({ "a": 1, "b": 2 }))).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }));

    let denied = servers(entries()).allow("mcp__one").deny("mcp__one__echo").ready().await;
    for consent in [Consent::Open, Consent::Given] {
        let call = Call::new("mcp__one__echo", hi()).with_consent(consent);
        assert!(matches!(denied.host.call(call).await, Err(CallError::Denied { .. })), "{consent:?}");
    }
    assert!(denied.call("one", "add", json!({ "a": 1, "b": 2 })).await.is_ok());

    let planning =
        servers(entries()).wish(|run_options| run_options.mode = Some(PermissionMode::Plan)).ready().await;
    assert!(planning.echo("one", "hi").await.is_ok(), "it only reads");
    let error = planning.call("one", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }), "{error}");

    let bypassing = servers(entries())
        .wish(|run_options| run_options.mode = Some(PermissionMode::BypassPermissions))
        .ready()
        .await;
    assert!(bypassing.host.call(Call::new("mcp__one__echo", hi())).await.is_ok());
}

/// Allows every call, and records the questions.
#[derive(Default)]
struct Remembers(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl Approver for Remembers {
    fn ask_permission<'q>(
        &'q self,
        question: PermissionQuestion<'q>,
    ) -> mcparley_wire::peer::BoxedFuture<'q, PermissionAnswer> {
        let asked = format!("{} {}", question.entry.name, question.arguments);
        self.0.lock().unwrap().push(asked);
        Box::pin(std::future::ready(PermissionAnswer::Allow))
    }
}

// P1 N4 B49
#[tokio::test]
async fn read_only_tool_needs_permission_like_any_other() {
    let asked = Remembers::default();
    let memory = std::sync::Arc::clone(&asked.0);
    let alive = servers([("one", scripted(&[]))]).start_as(|builder| builder.approver(asked));
    alive.host.wait_until_ready(crate::alive::LONG).await;
    let entry = alive.host.publish_catalog().get("mcp__one__echo").cloned().unwrap();
    assert!(entry.tool.hints.read_only);
    alive.host.call(Call::new("mcp__one__echo", json!({ "message": "hi" }))).await.unwrap();
    assert_eq!(*memory.lock().unwrap(), [r#"mcp__one__echo {"message":"hi"}"#]);
}

// K2 F08
#[tokio::test]
async fn tool_timeout_is_an_error_and_its_server_stays_connected() {
    let (_folder, log, _) = own("too-long");
    let entry = with(
        stdio(&ScriptedStdio::new(&["call-hang"]).with_option("--times", "1").with_log(&log)),
        "timeout",
        1000,
    );
    let alive = servers([("hangs", entry)]).ready().await;
    let begun = Instant::now();
    let error = alive.call("hangs", "add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    let took = begun.elapsed();
    assert!(error.is_timeout() && error.is_outcome_unknown(), "{error}");
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(3), "{took:?}");
    assert_eq!(alive.echo("hangs", "hi").await.unwrap(), "hi");
    let received = log_lines(&log);
    assert_eq!(received.iter().filter(|line| line.text.contains("notifications/cancelled")).count(), 1);
    let greetings = received.iter().filter(|line| line.text.contains("server/discover")).count();
    assert_eq!(greetings, 1, "the same connection");
}

// K2
#[tokio::test]
async fn progress_is_passed_on_and_restarts_the_limit() {
    let entry = with(scripted(&[]), "timeout", 400);
    let alive = servers([("slow", entry)]).ready().await;
    let call = Call::on_server("slow", "slow", json!({ "ms": 1500 })).with_consent(Consent::Given);
    let (call, mut progress) = call.with_progress();
    let outcome = alive.host.call(call).await.unwrap();
    assert_eq!(outcome.to_text(), "done");
    let mut values = Vec::new();
    while let Some(update) = progress.next().await {
        assert_eq!(update.total, Some(10.0));
        values.push(update.progress);
    }
    assert!(
        values.len() > 1 && values.windows(2).all(|pair| pair[0] < pair[1]),
        "each comes once: {values:?}"
    );
}

// K2
#[tokio::test]
async fn every_progress_comes_once_to_a_reader_that_keeps_up() {
    let alive = servers([("slow", scripted(&[]))]).ready().await;
    let call = Call::on_server("slow", "slow", json!({ "ms": 500 })).with_consent(Consent::Given);
    let (call, mut progress) = call.with_progress();
    let reading = async {
        let mut values = Vec::new();
        while let Some(newest) = progress.next().await {
            values.push(newest.progress);
        }
        values
    };
    let (outcome, values) = tokio::join!(alive.host.call(call), reading);
    assert_eq!(outcome.unwrap().to_text(), "done");
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
    assert!(values.len() > 1, "{values:?}");
}

// F07 K2
#[tokio::test]
async fn cancellation_is_sent_once_and_the_server_stays_connected() {
    let (_folder, log, _) = own("gives-up");
    let alive = servers([("slow", stdio(&ScriptedStdio::new(&[]).with_log(&log)))]).ready().await;
    let call = Call::on_server("slow", "slow", json!({ "ms": 60_000 })).with_consent(Consent::Given);
    let (call, mut progress) = call.with_progress();
    {
        let mut running = std::pin::pin!(alive.host.call(call));
        // It is given up as soon as the server is at work on it.
        tokio::select! {
            result = &mut running => panic!("{result:?}"),
            newest = progress.next() => assert!(newest.is_some()),
        }
    }
    assert_eq!(alive.echo("slow", "hi").await.unwrap(), "hi");
    let cancelled =
        log_lines(&log).iter().filter(|line| line.text.contains("notifications/cancelled")).count();
    assert_eq!(cancelled, 1);
}

// K5
#[tokio::test]
async fn read_only_calls_run_concurrently_and_others_in_order() {
    let alive = servers([("one", scripted(&[]))]).allow("mcp__one").ready().await;
    let echo = |text: &str| Call::new("mcp__one__echo", json!({ "message": text }));
    let add = |a: i32| Call::new("mcp__one__add", json!({ "a": a, "b": 0 }));
    let results = alive.host.call_all(vec![echo("1"), echo("2"), add(3), echo("4"), add(5), add(6)]).await;
    let texts: Vec<String> = results.into_iter().map(|result| result.unwrap().to_text()).collect();
    assert_eq!(texts, ["1", "2", "3", "4", "5", "6"]);
}

// N3 N9
#[tokio::test]
async fn a_server_without_prefix_is_called_by_its_tools_own_names() {
    let alive = servers([("one", scripted(&[])), ("two", scripted(&[]))])
        .allow("mcp__one__echo")
        .start_as(|builder| builder.without_prefix("one"));
    alive.host.wait_until_ready(crate::alive::LONG).await;
    let catalog = alive.host.publish_catalog();
    assert!(catalog.get("echo").is_some() && catalog.get("mcp__two__echo").is_some());
    assert!(catalog.get("mcp__one__echo").is_none());
    let outcome = alive.host.call(Call::new("echo", json!({ "message": "bare" }))).await.unwrap();
    assert_eq!(outcome.to_text(), "bare");
}

// K1
#[tokio::test]
async fn numbers_reach_the_server_with_all_their_digits() {
    let (_folder, log, _) = own("digits");
    let alive = servers([("one", stdio(&ScriptedStdio::new(&[]).with_log(&log)))]).ready().await;
    let text = r#"{ "a": 1.10, "b": 12345678901234567890.5 }"#;
    let call = Call::on_server("one", "add", json!({})).with_json(text).unwrap();
    alive.host.call(call.with_consent(Consent::Given)).await.unwrap();
    assert!(log_lines(&log).iter().any(|line| line.text.contains(text)));
}
