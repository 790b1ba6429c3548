//! Completion of arguments by the servers that have them.

use std::collections::BTreeMap;

use mcparley::complete::{CompleteError, CompletionTarget};
use mcparley::model::name::ServerName;
use mcparley_testkit::{HttpServer, ScriptedStdio, log_lines};
use serde_json::{Value, json};

use crate::alive::{http, own, scripted, servers, stdio};

fn prompt(server: &str) -> CompletionTarget {
    CompletionTarget::Prompt { server: ServerName::new(server), name: "greet".into() }
}

// X8
#[tokio::test]
async fn an_argument_is_completed_in_both_eras_and_on_both_transports() {
    for version in ["2025-11-25", "2026-07-28"] {
        let (_folder, log, _) = own("completing");
        let local = ScriptedStdio::new(&["completions:2"]).with_option("--versions", version).with_log(&log);
        let remote = HttpServer::start_with(&["completions:150"], &["--versions", version]);
        let alive = servers([("local", stdio(&local)), ("remote", http(&remote))]).ready().await;
        let known = BTreeMap::from([("first".to_owned(), "a".to_owned())]);
        let two = alive.host.complete_argument(&prompt("local"), "second", "x", &known).await.unwrap();
        assert_eq!(
            (two.values, two.total, two.has_more),
            (vec!["x1".to_owned(), "x2".to_owned()], Some(2), false)
        );
        let many = alive.host.complete_argument(&prompt("remote"), "second", "", &known).await.unwrap();
        assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(150), true), "{version}");
        let template = CompletionTarget::Template { server: ServerName::new("local"), uri: "a://{b}".into() };
        alive.host.complete_argument(&template, "b", "", &BTreeMap::new()).await.unwrap();
        let asked: Vec<Value> = log_lines(&log)
            .iter()
            .map(|line| serde_json::from_str::<Value>(&line.text).unwrap())
            .filter(|message| message["method"] == "completion/complete")
            .map(|mut message| message["params"].take())
            .collect();
        assert_eq!(asked[0]["ref"], json!({ "type": "ref/prompt", "name": "greet" }));
        assert_eq!(asked[0]["argument"], json!({ "name": "second", "value": "x" }));
        assert_eq!(asked[0]["context"], json!({ "arguments": { "first": "a" } }));
        assert_eq!(asked[1]["ref"], json!({ "type": "ref/resource", "uri": "a://{b}" }));
        assert_eq!(asked[1].get("context"), None, "older servers have not heard of it");
    }
}

// X8
#[tokio::test]
async fn only_servers_that_offer_completion_are_asked() {
    let (_folder, log, _) = own("unasked");
    let plain = stdio(&ScriptedStdio::new(&[]).with_log(&log));
    let alive = servers([("plain", plain), ("broken", scripted(&["exit-start"]))]).ready().await;
    let complete = async |server: &str| {
        alive.host.complete_argument(&prompt(server), "a", "", &BTreeMap::new()).await.unwrap_err()
    };
    assert!(complete("plain").await.is_not_offered());
    assert!(!log_lines(&log).iter().any(|line| line.text.contains("completion/complete")));
    assert!(matches!(complete("broken").await, CompleteError::Unavailable { .. }));
    assert!(matches!(complete("nobody").await, CompleteError::UnknownServer { .. }));
}

// X8: a program that asks on every key drops the previous question first.
#[tokio::test]
async fn dropped_completion_is_canceled_at_the_server() {
    let (_folder, log, _) = own("dropped");
    let entry = ScriptedStdio::new(&["completions", "call-hang"]).with_option("--on", "completion/complete");
    let alive = servers([("one", stdio(&entry.with_log(&log)))]).ready().await;
    let heard = |word: &'static str| {
        let log = &log;
        async move {
            while !log_lines(log).iter().any(|line| line.text.contains(word)) {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    };
    {
        let (of, known) = (prompt("one"), BTreeMap::new());
        let mut asking = std::pin::pin!(alive.host.complete_argument(&of, "a", "", &known));
        tokio::select! {
            answer = &mut asking => panic!("{answer:?}"),
            () = heard("completion/complete") => {}
        }
    }
    tokio::time::timeout(crate::alive::LONG, heard("notifications/cancelled")).await.unwrap();
}
